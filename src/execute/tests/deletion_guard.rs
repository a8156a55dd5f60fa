//! Deletions that wait for approval, and the budget of a minute.

use super::*;
use crate::operator::{DeletionLimit, OperatorConfig};

/// Refused deletions do not use the budget. A server error may mean that the deletion was carried out.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_deletion_is_returned_to_the_budget() {
    let one = Allowance { percent: 0, at_least: 1 };
    for (answer, may_delete) in
        [(refusal(403, "Forbidden"), true), (refusal(504, "Timeout"), false), (done(), false)]
    {
        let setup = Setup::new(pods(), ChildConfig::apply()).caching(child("5", 1));
        let world = setup.before(move |asked| match asked.method.as_str() {
            "PATCH" => with_status(&asked.body),
            "DELETE" => answer.clone(),
            _ => taken(),
        });
        world.reconcile(Memory::default()).await;
        let context = world.context();
        let taken = context.budget().take(one, 1, std::time::Instant::now(), || 1);
        assert_eq!(taken.is_ok(), may_delete);
    }
}

/// The approval is still missing.
#[tokio::test(flavor = "multi_thread")]
async fn held_deletions_are_shown_until_they_are_judged_again() {
    let held = json!({"conditions": [{
        "type": "DeletionsHeld", "status": "True", "reason": "TooManyDeletions", "message": "...",
    }]});
    let script = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        _ => taken(),
    };
    let world = || Setup::new(pods(), ChildConfig::apply()).showing(held.clone());
    let shows_it = |world: scripted::World| {
        world.asked("PATCH").remove(0).body.to_string().contains("DeletionsHeld")
    };
    let (failing, well) = (world().failing_for_good().before(script), world().before(script));
    failing.reconcile(Memory::default()).await;
    let judged = well.reconcile(Memory::default()).await;
    // The reconcile that judged may have left the status to the next.
    let failing_then = world().failing_for_good().before(script);
    failing_then.reconcile(judged.memory).await;
    assert_eq!([failing, well, failing_then].map(shows_it), [true, false, false]);
}

/// As after a restored backup: the deletions wait, and remain held.
#[tokio::test(flavor = "multi_thread")]
async fn held_deletions_are_not_forgotten_while_a_type_is_not_listed() {
    let held = json!({"conditions": [{
        "type": "DeletionsHeld", "status": "True", "reason": "TooManyDeletions", "message": "...",
    }]});
    for (is_unlisted, is_held) in [(true, true), (false, false)] {
        let setup = Setup::new(pods(), ChildConfig::apply()).showing(held.clone());
        let setup = setup.caching(child("5", 1));
        let setup = if is_unlisted { setup.unlisted() } else { setup };
        let world = setup.before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "DELETE" => done(),
            _ => taken(),
        });
        let report = world.reconcile(Memory::default()).await;
        assert_eq!(report.holds_no_deletions(), !is_held, "{report:?}");
        assert_eq!(report.writes.len(), usize::from(!is_held));
    }
}

/// How many of four children the first reconcile of a process deletes, with a limit of half of them or one,
/// and four other children that stay and were created in this second.
async fn gone_after_a_restart(kept_since: usize, showing: Value) -> usize {
    let of_age = |name: String, second: usize| {
        let mut child = child("5", 1);
        let time = format!("2026-01-01T00:00:{second:02}Z");
        let ids = json!({"name": name, "uid": name, "creationTimestamp": time});
        child["metadata"].as_object_mut().unwrap().extend(ids.as_object().unwrap().clone());
        child
    };
    let limit = |config: OperatorConfig| {
        let run = Allowance { percent: 50, at_least: 1 };
        config.with_deletion_limit(DeletionLimit { reconcile: run, ..DeletionLimit::default() })
    };
    let names = |prefix: &str| (0..4).map(|n| format!("{prefix}{n}")).collect::<Vec<_>>();
    let setup = Setup::new(pods(), ChildConfig::apply()).configured(limit).showing(showing);
    let setup = names("gone").into_iter().fold(setup, |it, name| it.caching(of_age(name, 2)));
    let setup = names("kept")
        .into_iter()
        .fold(setup, |it, name| it.caching(of_age(name.clone(), kept_since)).and(desired(&name)));
    let world = setup.before(|asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => {
            let mut reply = asked.body.clone();
            reply["metadata"]["resourceVersion"] = json!("6");
            (200, reply)
        }
        "DELETE" => done(),
        _ => taken(),
    });
    world.reconcile(Memory::default()).await;
    world.asked("DELETE").len()
}

/// No condition shows that an earlier process held them.
#[tokio::test(flavor = "multi_thread")]
async fn children_newer_than_all_deletions_do_not_reduce_the_share_after_a_restart() {
    for (kept_since, expected) in [(1, 4), (2, 4), (3, 0)] {
        let gone = gone_after_a_restart(kept_since, json!({})).await;
        assert_eq!(gone, expected, "kept ones of second {kept_since}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn held_deletions_stay_held_after_a_restart() {
    let of_reconcile = "4 of 8 children would be deleted, but a reconcile may delete 2";
    let of_minute =
        "4 of 8 children would be deleted, but the operator may delete 3 of its 8 within";
    for message in [of_reconcile, of_minute] {
        let held = json!({"conditions": [{
            "type": "DeletionsHeld", "status": "True", "reason": "TooManyDeletions",
            "message": message,
        }]});
        assert_eq!(gone_after_a_restart(1, held).await, 0, "{message}");
    }
}

/// Held deletions are judged after the pause; without deletions there is nothing to hold.
#[tokio::test(flavor = "multi_thread")]
async fn a_paused_parent_without_deletions_no_longer_shows_held_ones() {
    let quiet = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        _ => taken(),
    };
    let mut paused = parent("3");
    paused["metadata"]["annotations"] = json!({"operetta.dev/paused": "true"});
    let held = json!({"conditions": [{
        "type": "DeletionsHeld", "status": "True", "reason": "TooManyDeletions", "message": "...",
    }]});
    let setup = || {
        let setup = Setup::new(pods(), ChildConfig::apply()).of(paused.clone());
        setup.showing(held.clone()).caching(child("5", 2))
    };
    for (setup, is_over) in [(setup(), false), (setup().desiring(desired("c")), true)] {
        let world = setup.before(quiet);
        let report = world.reconcile(Memory::default()).await;
        assert_eq!(report.holds_no_deletions(), is_over, "{report:?}");
        assert!(report.memory.had_children());
        let status = world.asked("PATCH").remove(0).body.to_string();
        assert_eq!(status.contains("DeletionsHeld"), !is_over, "{status}");
    }
}
