//! Concurrent writes of children, and what stops them early.

use super::*;
use crate::plan::{Deletion, Step, Write};

/// A child of the parent with a name of its own.
fn named(name: &str, version: &str, x: u64) -> Value {
    let mut named = child(version, x);
    named["metadata"]["name"] = json!(name);
    named["metadata"]["uid"] = json!(format!("{name}-uid"));
    named
}

fn four(setup: Setup) -> Setup {
    let setup =
        ["a", "b", "c", "d"].iter().fold(setup, |setup, name| setup.caching(named(name, "5", 1)));
    setup.desiring(desired("a")).and(desired("b")).and(desired("c")).and(desired("d"))
}

fn name_of(asked: &scripted::Asked) -> String {
    let path = asked.path.split('?').next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Sorted: the order of concurrent writes is random.
fn writes(world: &scripted::World) -> Vec<String> {
    let asked = world.asked("PATCH");
    let asked = asked.iter().filter(|asked| asked.is_about("/pods/"));
    let mut names: Vec<String> = asked.map(name_of).collect();
    names.sort_unstable();
    names
}

/// The pause may end before the deletions.
#[tokio::test(flavor = "multi_thread")]
async fn a_held_write_makes_the_children_incomplete() {
    let write = || {
        let id = ChildId { ty: pods(), key: ObjectKey::namespaced("ns", "c") };
        Write::new(id, desired("c"), 0, ChildConfig::apply())
    };
    let object = Object::from_value(&pods(), &child("5", 1), &<_>::default()).unwrap();
    let undesired = || Step::Delete(Deletion::undesired(&object));
    for (step, is_incomplete) in
        [(Step::Create(write()), true), (Step::Update(write()), true), (undesired(), false)]
    {
        let mut journal = Journal::default();
        let stop = StopReason::Paused(PausedBy::Operator);
        stop.hold_after(&step, 0, true).into_iter().for_each(|fact| journal.append(fact));
        assert_eq!(journal.progress().is_incomplete(), is_incomplete, "{step:?}");
    }
}

/// Throttling counts whatever the concurrent requests are answered.
#[tokio::test(flavor = "multi_thread")]
async fn throttling_is_remembered_beside_another_failure() {
    for details in [json!({"retryAfterSeconds": 30}), json!({})] {
        let mut busy = refusal(429, "TooManyRequests");
        busy.1["details"] = details;
        let world = four(Setup::new(pods(), ChildConfig::apply())).before(move |asked| match asked
            .method
            .as_str()
        {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" if asked.is_about("/pods/a") => (200, named("a", "9", 2)),
            "PATCH" if asked.is_about("/pods/b") => busy.clone(),
            _ => refusal(422, "Invalid"),
        });
        let report = world.reconcile(Memory::default()).await;
        let throttled: Vec<_> = report.memory.throttled().iter().map(|id| &*id.key.name).collect();
        assert_eq!(throttled, ["b"]);
        let why = report.failure().map(ToString::to_string).unwrap_or_default();
        assert!(why.contains("Pod.v1 ns/b") && why.contains("Pod.v1 ns/c"), "{why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writes_are_bounded_by_the_request_permits() {
    let setup = Setup::new(pods(), ChildConfig::apply()).one_by_one();
    let world = four(setup).before(|asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if asked.is_about("/pods/b") => refusal(429, "TooManyRequests"),
        "PATCH" => (200, named(&name_of(asked), "9", 2)),
        _ => taken(),
    });
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(writes(&world), ["a", "b"], "nothing was sent beside them: {report:?}");
}
