//! Children that terminate slowly, and watches that miss their deletion.

use std::time::Duration;

use super::*;

fn ending() -> Value {
    let mut ending = child("5", 1);
    ending["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    ending
}

fn successor() -> Value {
    let mut successor = child("9", 2);
    successor["metadata"]["uid"] = json!("another");
    successor
}

fn reads(world: &scripted::World) -> usize {
    world.asked("GET").iter().filter(|asked| of_child(asked)).count()
}

fn a_minute_later(mut memory: Memory) -> Memory {
    memory.age(Duration::from_mins(1));
    memory
}

/// As if the watch had missed its deletion.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_whose_deletion_the_watch_missed_is_found_gone_after_a_minute() {
    for (live, is_there, uid) in [
        (refusal(404, "NotFound"), false, None),
        ((200, successor()), true, Some("another")),
        ((200, ending()), true, Some("cu")),
    ] {
        let setup = Setup::new(pods(), ChildConfig::apply()).caching(ending());
        let world = setup.desiring(desired("c")).before(move |asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "GET" if of_child(asked) => live.clone(),
            _ => taken(),
        });
        let first = world.reconcile(Memory::default()).await;
        assert_eq!(reads(&world), 0, "not at once");
        let soon = Duration::from_secs(10);
        assert_eq!(first.finished(world.config()), Finished::Recheck { after: soon });
        let second = world.reconcile(a_minute_later(first.memory)).await;
        assert_eq!(reads(&world), 1);
        assert_eq!(world.is_cached("c"), is_there);
        assert_eq!(
            world.notified_the_parent_too(),
            uid != Some("cu"),
            "the parent is reconciled again"
        );
        let cached = world.cached("c");
        assert_eq!(cached.as_ref().map(|child| child.uid().to_string()), uid.map(str::to_owned));
        assert!(second.failure().is_none(), "{second:?}");
    }
}

/// It may be the replacement of the other, or wait for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_waits_for_a_terminating_desired_child_for_at_most_a_minute() {
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
    let first = world.reconcile(Memory::default()).await;
    let message = "Pod.v1 ns/d: its deletion waits until every write is accepted";
    assert!(world.asked("DELETE").is_empty() && first.waiting.iter().any(|it| it == message));
    let second = world.reconcile(a_minute_later(first.memory)).await;
    assert_eq!(second.deletions(), 1, "{second:?}");
}

/// After the loss of a node hundreds of Pods are terminating.
#[tokio::test(flavor = "multi_thread")]
async fn a_throttling_server_gets_no_reads_of_the_other_children() {
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
    let first = world.reconcile(Memory::default()).await;
    world.reconcile(a_minute_later(first.memory)).await;
    assert_eq!(world.asked("GET").iter().filter(|asked| asked.is_about("/pods/")).count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_live_read_is_reported() {
    let setup = Setup::new(pods(), ChildConfig::apply()).caching(ending());
    let world = setup.desiring(desired("c")).before(|asked| match asked.method.as_str() {
        "PATCH" => with_status(&asked.body),
        "GET" if of_child(asked) => refusal(403, "Forbidden"),
        _ => taken(),
    });
    let first = world.reconcile(Memory::default()).await;
    let second = world.reconcile(a_minute_later(first.memory)).await;
    assert_eq!(second.failure().map(Failure::reason), Some("WriteFailed"), "{second:?}");
}
