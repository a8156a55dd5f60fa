//! Children with `on_delete` of which the process knows no history.

use super::*;

fn is_dry_run(asked: &scripted::Asked) -> bool {
    asked.is_about("dryRun=All")
}

/// A child that seems to differ, and the answer to the dry run of the apply.
fn differing(dry_run: impl Fn() -> Reply + Send + Sync + 'static) -> scripted::World {
    let setup = Setup::new(pods(), ChildConfig::on_delete()).caching(child("5", 1));
    setup.desiring(desired("c")).before(move |asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if is_dry_run(asked) => dry_run(),
        _ => taken(),
    })
}

fn dry_runs(world: &scripted::World) -> usize {
    world.asked("PATCH").iter().filter(|asked| is_dry_run(asked)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_only_a_policy_changes_is_up_to_date() {
    for (what, reply, is_settled) in [
        ("the policy does the same again", (200, child("5", 1)), true),
        ("it would change", (200, child("5", 2)), false),
        ("it could not change", immutable_field(), false),
        ("the dry run is forbidden", refusal(403, "Forbidden"), false),
    ] {
        let world = differing(move || reply.clone());
        let first = world.reconcile(Memory::default()).await;
        let message = "Pod.v1 ns/c: the server has changed .spec.x of what was applied";
        assert_eq!(
            (first.unchanged, first.held == [message]),
            (is_settled.into(), is_settled),
            "{what}: {:?}",
            first.held
        );
        let second = world.reconcile(first.memory).await;
        assert_eq!(
            (second.unchanged, dry_runs(&world)),
            (is_settled.into(), 1),
            "{what}: checked once"
        );
        world.changed(&child("6", 3));
        let third = world.reconcile(second.memory).await;
        let asked = if is_settled { 1 } else { 2 };
        assert_eq!((third.unchanged, dry_runs(&world)), (0, asked), "{what}: it has changed");
        assert!(world.asked("DELETE").is_empty() && third.writes.is_empty(), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_dry_run_is_repeated() {
    let is_available = AtomicBool::new(false);
    let world = differing(move || {
        let was_available = is_available.swap(true, Ordering::AcqRel);
        if was_available { (200, child("5", 1)) } else { refusal(503, "ServiceUnavailable") }
    });
    let first = world.reconcile(Memory::default()).await;
    assert!(first.failure().is_none() && first.held.is_empty(), "{first:?}");
    let finished = first.finished(world.config());
    assert!(
        matches!(finished, Finished::Recheck { .. }),
        "nothing else would repeat it: {finished:?}"
    );
    let second = world.reconcile(first.memory).await;
    assert_eq!((second.unchanged, dry_runs(&world)), (1, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn throttling_of_a_dry_run_stops_the_writes() {
    let setup = Setup::new(pods(), ChildConfig::on_delete()).caching(child("5", 1));
    let setup = setup.desiring(desired("c")).and(desired("d"));
    let mut busy = refusal(429, "TooManyRequests");
    busy.1["details"] = json!({"retryAfterSeconds": 30});
    let world = setup.before(move |asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if is_dry_run(asked) => busy.clone(),
        "PATCH" => (201, child("9", 2)),
        _ => taken(),
    });
    let report = world.reconcile(Memory::default()).await;
    let written = world.asked("PATCH");
    let written = written.iter().filter(|asked| asked.is_about("/pods/") && !is_dry_run(asked));
    assert_eq!(written.count(), 0, "the other child waits too: {report:?}");
    let finished = report.finished(world.config());
    assert_eq!(finished, Finished::Throttled { after: std::time::Duration::from_secs(30) });
}

/// No watch reports the deletion of a child without its label.
#[tokio::test(flavor = "multi_thread")]
async fn an_unmodified_child_that_no_watch_covers_is_rechecked() {
    for is_labelled in [true, false] {
        let mut left = child("5", 1);
        if !is_labelled {
            left["metadata"]["labels"] = json!({});
        }
        let setup = Setup::new(pods(), ChildConfig::on_delete()).desiring(desired("c"));
        let world = setup.before(move |asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => refusal(409, "Conflict"),
            "GET" => (200, left.clone()),
            _ => taken(),
        });
        let report = world.reconcile(Memory::default()).await;
        assert!(report.failure().is_none() && !report.held.is_empty(), "{report:?}");
        let is_seen = matches!(report.finished(world.config()), Finished::Settled { .. });
        assert_eq!(is_seen, is_labelled, "{report:?}");
    }
}
