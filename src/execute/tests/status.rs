//! The schema of statuses, and statuses that are announced.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_status_waits_until_its_schema_is_published() {
    let unpublished = json!({"paths": {}, "components": {"schemas": {}}});
    let setup = Setup::new(pods(), ChildConfig::apply()).publishing((200, unpublished));
    let world = setup.before(|_| taken());
    let report = world.reconcile(Memory::default()).await;
    assert!(world.asked("PATCH").is_empty());
    let after = std::time::Duration::from_secs(1);
    assert_eq!(report.finished(world.config()), Finished::Recheck { after });
}

/// It is read once in a while, and at once after a new watch.
#[tokio::test(flavor = "multi_thread")]
async fn the_schema_is_read_again_after_the_type_may_have_changed() {
    let setup = Setup::new(pods(), ChildConfig::apply());
    let world = setup.before(|asked| match asked.method.as_str() {
        "PATCH" => with_status(&asked.body),
        _ => taken(),
    });
    let times = || world.asked("GET").iter().filter(|asked| asked.is_about("/openapi/")).count();
    let first = world.reconcile(Memory::default()).await;
    let second = world.reconcile(first.memory).await;
    assert_eq!(times(), 1);
    world.context().forget_schema();
    world.reconcile(second.memory).await;
    assert_eq!(times(), 2);
}

/// It could not be decoded, and so would be written by each reconcile. As with invalid JSON, the handler is
/// at fault, and no child is written.
#[tokio::test(flavor = "multi_thread")]
async fn a_status_that_is_nested_too_deep_is_not_written_and_stops_a_preview() {
    let deep = (0..200).fold(json!("x"), |inner, _| json!([inner]));
    let world = Setup::new(pods(), ChildConfig::apply())
        .returning(json!({"conditions": [], "deep": deep}))
        .before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            _ => taken(),
        });
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(report.failure().map(Failure::reason), Some("HandlerFailed"));
    assert_eq!(report.finished(world.config()), Finished::FailedForGood);
    let [patch] = world.asked("PATCH").try_into().unwrap_or_else(|asked| panic!("{asked:?}"));
    let body = patch.body.to_string();
    assert!(body.contains("the status: ") && !body.contains("\"deep\""), "{body}");
    let preview = preview(&world.context(), scripted::World::job(0, Memory::default()), None).await;
    let refused = preview.unwrap_err().to_string();
    assert!(refused.contains("nested more than 100 levels deep"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reserved_condition_is_announced_once() {
    let mine = json!({"conditions": [{"type": "Synced", "status": "True", "reason": "Mine"}]});
    let world =
        Setup::new(pods(), ChildConfig::apply()).returning(mine).before(|asked| {
            match asked.method.as_str() {
                "PATCH" if asked.is_about("/status") => with_status(&asked.body),
                _ => taken(),
            }
        });
    let first = world.reconcile(Memory::default()).await;
    world.reconcile(first.memory).await;
    world.until_asked("POST", "/events").await;
    world.context().events().flush().await;
    let events = world.asked("POST");
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].body["reason"], "OverruledStatus");
    let note = events[0].body["note"].as_str().unwrap();
    assert!(note.contains("a condition Synced, Reconciling or Stalled"), "{note}");
}
