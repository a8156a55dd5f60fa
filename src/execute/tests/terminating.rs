//! Children that take their time to go, and watches that do not tell when they have gone.

use std::time::Duration;

use super::*;

fn ending() -> Value {
    let mut ending = child("5", 1);
    ending["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    ending
}

fn namesake() -> Value {
    let mut namesake = child("9", 2);
    namesake["metadata"]["uid"] = json!("another");
    namesake
}

fn looks(world: &scripted::World) -> usize {
    world.asked("GET").iter().filter(|asked| of_child(asked)).count()
}

fn a_minute_later(mut memory: Memory) -> Memory {
    memory.age(Duration::from_mins(1));
    memory
}

/// As if its watch had missed the end.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_whose_end_no_watch_tells_is_found_to_be_gone_after_a_minute() {
    for (live, is_there, uid) in [
        (refusal(404, "NotFound"), false, None),
        ((200, namesake()), true, Some("another")),
        ((200, ending()), true, Some("cu")),
    ] {
        let setup = Setup::new(pods(), ChildConfig::apply()).caching(ending());
        let world = setup.desiring(desired("c")).before(move |asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "GET" if of_child(asked) => live.clone(),
            _ => taken(),
        });
        let first = world.run(Memory::default()).await;
        assert_eq!(looks(&world), 0, "not at once");
        let soon = Duration::from_secs(10);
        assert_eq!(first.finished(world.config()), Finished::Recheck { after: soon });
        let second = world.run(a_minute_later(first.memory)).await;
        assert_eq!(looks(&world), 1);
        assert_eq!(world.is_cached("c"), is_there);
        assert_eq!(world.told_the_parent_too(), uid != Some("cu"), "it runs again for it");
        let cached = world.cached("c");
        assert_eq!(cached.as_ref().map(|child| child.uid().to_string()), uid.map(str::to_owned));
        assert!(second.failure().is_none(), "{second:?}");
    }
}

/// It may be what replaces the other, or what the other keeps from going.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_is_not_wanted_stays_until_a_wanted_one_is_back_but_no_longer_than_a_minute() {
    let mut other = child("6", 1);
    other["metadata"]["name"] = json!("d");
    other["metadata"]["uid"] = json!("du");
    let setup = Setup::new(pods(), ChildConfig::apply()).caching(ending()).caching(other);
    let world = setup.desiring(desired("c")).before(|asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "GET" if of_child(asked) => (200, ending()),
        "DELETE" => done(),
        _ => taken(),
    });
    let first = world.run(Memory::default()).await;
    let said = "Pod.v1 ns/d: its deletion waits until every write is accepted";
    assert!(world.asked("DELETE").is_empty() && first.waiting.iter().any(|it| it == said));
    let second = world.run(a_minute_later(first.memory)).await;
    assert_eq!(second.deletions(), 1, "{second:?}");
}

/// Of a lost node hundreds of Pods are ending.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_asks_for_patience_is_not_asked_about_the_others() {
    let mut other = ending();
    other["metadata"]["name"] = json!("d");
    other["metadata"]["uid"] = json!("du");
    let setup = Setup::new(pods(), ChildConfig::apply()).caching(ending()).caching(other);
    let world = setup.before(|asked| match asked.method.as_str() {
        "PATCH" => with_status(&asked.body),
        "GET" if asked.is_about("/pods/") => {
            let mut busy = refusal(429, "TooManyRequests");
            busy.1["details"] = json!({"retryAfterSeconds": 3});
            busy
        }
        _ => taken(),
    });
    let first = world.run(Memory::default()).await;
    world.run(a_minute_later(first.memory)).await;
    assert_eq!(world.asked("GET").iter().filter(|asked| asked.is_about("/pods/")).count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_that_fails_is_told() {
    let setup = Setup::new(pods(), ChildConfig::apply()).caching(ending());
    let world = setup.desiring(desired("c")).before(|asked| match asked.method.as_str() {
        "PATCH" => with_status(&asked.body),
        "GET" if of_child(asked) => refusal(403, "Forbidden"),
        _ => taken(),
    });
    let first = world.run(Memory::default()).await;
    let second = world.run(a_minute_later(first.memory)).await;
    assert_eq!(second.failure().map(Failure::reason), Some("WriteFailed"), "{second:?}");
}
