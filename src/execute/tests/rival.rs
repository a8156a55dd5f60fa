//! The rival of a child that is repeatedly reverted.

use super::*;

/// The child after one manager changed our field, and another a different one, later.
fn changed_back(version: usize) -> Value {
    let entry = |manager: &str, second: u8, fields: Value| {
        let time = format!("2026-01-01T00:00:0{second}Z");
        json!({"manager": manager, "operation": "Update", "time": time, "fieldsV1": fields})
    };
    let mut child = child(&version.to_string(), 1);
    child["metadata"]["managedFields"] = json!([
        entry("rival", 1, json!({"f:spec": {"f:x": {}}})),
        entry("bystander", 2, json!({"f:metadata": {"f:annotations": {"f:seen": {}}}})),
    ]);
    child
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rival_is_the_manager_of_the_field_and_not_the_last_one() {
    let version = Arc::new(AtomicUsize::new(5));
    let now = version.clone();
    let script = move |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => (200, child(&(now.fetch_add(1, Ordering::AcqRel) + 1).to_string(), 2)),
        "GET" => (200, changed_back(now.load(Ordering::Acquire))),
        _ => taken(),
    };
    let world = Setup::new(pods(), ChildConfig::apply())
        .caching(child("5", 1))
        .desiring(desired("c"))
        .before(script);
    let mut memory = Memory::default();
    for count in 0..4 {
        assert!(memory.flapping().condition().is_none(), "after {count} reconciles");
        memory = world.reconcile(memory).await.memory;
        world.changed(&changed_back(version.fetch_add(1, Ordering::AcqRel) + 1));
    }
    let message = memory.flapping().condition().unwrap().message;
    assert!(message.contains("`rival` reverts .spec.x"), "{message}");
    let reads = world.asked("GET").into_iter().filter(|asked| asked.is_about("/pods/c"));
    assert_eq!(reads.count(), 1, "one live read, before the last write");
}

/// It left the cache: only the answer to the create shows it.
#[tokio::test(flavor = "multi_thread")]
async fn the_rival_of_a_recreated_child_that_left_the_cache_is_found() {
    let is_there = AtomicBool::new(true);
    let script = move |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if asked.is_about("dryRun=All") => (201, child("9", 2)),
        "PATCH" if is_there.swap(true, Ordering::AcqRel) => refusal(409, "Conflict"),
        "PATCH" => (201, child("9", 2)),
        "GET" if of_child(asked) => {
            let mut stripped = changed_back(8);
            stripped["metadata"]["labels"] = json!({});
            (200, stripped)
        }
        "GET" => (200, parent("9")),
        "DELETE" => {
            is_there.store(false, Ordering::Release);
            done()
        }
        _ => taken(),
    };
    let setup = Setup::new(pods(), ChildConfig::recreate()).caching(child("5", 2));
    let world = setup.desiring(desired("c")).before(script);
    let mut memory = world.reconcile(Memory::default()).await.memory;
    for time in 0..3 {
        assert!(memory.flapping().condition().is_none(), "after {time} times");
        world.went("c");
        // One reconcile deletes it, the next creates it.
        memory = world.reconcile(memory).await.memory;
        memory = world.reconcile(memory).await.memory;
    }
    let message = memory.flapping().condition().unwrap().message;
    assert!(
        message.contains("`rival` reverts ") && message.contains(".spec.x repeatedly"),
        "{message}"
    );
}

/// A failed repair does not hide the drift.
#[tokio::test(flavor = "multi_thread")]
async fn a_repair_that_fails_first_is_reported_as_drift_on_success() {
    let tries = AtomicUsize::new(0);
    let setup = Setup::new(pods(), ChildConfig::apply()).caching(child("5", 1));
    let world = setup.desiring(desired("c")).before(move |asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => match tries.fetch_add(1, Ordering::AcqRel) {
            0 => (200, child("6", 2)),
            1 => refusal(500, "InternalError"),
            _ => (200, child("8", 2)),
        },
        _ => taken(),
    });
    let settled = world.reconcile(Memory::default()).await;
    assert_eq!(settled.writes.len(), 1, "{settled:?}");
    world.changed(&child("7", 1));
    let failed = world.reconcile(settled.memory).await;
    assert!(failed.failure().is_some() && failed.writes.is_empty(), "{failed:?}");
    let repaired = world.reconcile(failed.memory).await;
    let drift = repaired.writes[0].drift.as_ref().expect("reported as drift");
    let to = drift.to.as_ref().map(ToString::to_string);
    assert_eq!((drift.from.to_string(), to), ("6".to_owned(), Some("7".to_owned())));
}

/// Otherwise two processes with different desired states would recreate it forever.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_others_recreate_at_once_causes_no_second_reconcile_at_once() {
    let setup = Setup::new(pods(), ChildConfig::recreate()).caching(child("5", 1));
    let world = setup.desiring(desired("c")).before(|asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if asked.is_about("dryRun=All") => (201, child("9", 2)),
        "PATCH" => refusal(409, "Conflict"),
        "GET" if of_child(asked) => (200, child("8", 1)),
        "GET" => (200, parent("3")),
        "DELETE" => done(),
        _ => taken(),
    });
    let first = world.reconcile(Memory::default()).await;
    assert_eq!(first.finished(world.config()), Finished::Recreating, "{first:?}");
    world.went("c");
    let second = world.reconcile(first.memory).await;
    assert_eq!((second.recreated(), world.asked("DELETE").len()), (1, 2), "{second:?}");
    assert_eq!(second.finished(world.config()), Finished::Wrote);
}
