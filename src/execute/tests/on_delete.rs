//! Children that change only when they are deleted, of which a process knows nothing that it did not
//! see.

use super::*;

fn is_trial(asked: &scripted::Asked) -> bool {
    asked.is_about("dryRun=All")
}

/// A child that looks different from what is wanted, and what a dry run of the apply says.
fn differing(trial: impl Fn() -> Reply + Send + Sync + 'static) -> scripted::World {
    let setup = Setup::new(pods(), ChildConfig::on_delete()).caching(child("5", 1));
    setup.desiring(desired("c")).before(move |asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if is_trial(asked) => trial(),
        _ => taken(),
    })
}

fn trials(world: &scripted::World) -> usize {
    world.asked("PATCH").iter().filter(|asked| is_trial(asked)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_only_a_policy_makes_different_is_said_to_be_as_desired() {
    for (what, reply, is_settled) in [
        ("the policy does the same again", (200, child("5", 1)), true),
        ("it would change", (200, child("5", 2)), false),
        ("it could not change", immutable_field(), false),
        ("nobody may ask", refusal(403, "Forbidden"), false),
    ] {
        let world = differing(move || reply.clone());
        let first = world.run(Memory::default()).await;
        let said = "Pod.v1 ns/c: the server has changed .spec.x of what was applied";
        assert_eq!(
            (first.unchanged, first.held == [said]),
            (is_settled.into(), is_settled),
            "{what}: {:?}",
            first.held
        );
        let second = world.run(first.memory).await;
        assert_eq!(
            (second.unchanged, trials(&world)),
            (is_settled.into(), 1),
            "{what}: asked once"
        );
        world.changed(&child("6", 3));
        let third = world.run(second.memory).await;
        let asked = if is_settled { 1 } else { 2 };
        assert_eq!((third.unchanged, trials(&world)), (0, asked), "{what}: it has changed");
        assert!(world.asked("DELETE").is_empty() && third.writes.is_empty(), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_could_not_tell_of_a_child_is_asked_again() {
    let is_well = AtomicBool::new(false);
    let world = differing(move || {
        let was_well = is_well.swap(true, Ordering::AcqRel);
        if was_well { (200, child("5", 1)) } else { refusal(503, "ServiceUnavailable") }
    });
    let first = world.run(Memory::default()).await;
    assert!(first.failure().is_none() && first.held.is_empty(), "{first:?}");
    let finished = first.finished(world.config());
    assert!(matches!(finished, Finished::Recheck { .. }), "nothing else would ask: {finished:?}");
    let second = world.run(first.memory).await;
    assert_eq!((second.unchanged, trials(&world)), (1, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_asks_for_patience_when_it_is_asked_has_it() {
    let setup = Setup::new(pods(), ChildConfig::on_delete()).caching(child("5", 1));
    let setup = setup.desiring(desired("c")).and(desired("d"));
    let mut busy = refusal(429, "TooManyRequests");
    busy.1["details"] = json!({"retryAfterSeconds": 30});
    let world = setup.before(move |asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if is_trial(asked) => busy.clone(),
        "PATCH" => (201, child("9", 2)),
        _ => taken(),
    });
    let report = world.run(Memory::default()).await;
    let written = world.asked("PATCH");
    let written = written.iter().filter(|asked| asked.is_about("/pods/") && !is_trial(asked));
    assert_eq!(written.count(), 0, "the other child waits too: {report:?}");
    let finished = report.finished(world.config());
    assert_eq!(finished, Finished::Throttled { after: std::time::Duration::from_secs(30) });
}

/// Nothing tells of the end of one that has lost the label by which it is watched.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_is_left_alone_out_of_our_sight_is_looked_at_again() {
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
        let report = world.run(Memory::default()).await;
        assert!(report.failure().is_none() && !report.held.is_empty(), "{report:?}");
        let is_seen = matches!(report.finished(world.config()), Finished::Settled { .. });
        assert_eq!(is_seen, is_labelled, "{report:?}");
    }
}
