//! Deletions that wait for a person, and what a minute allows.

use super::*;
use crate::operator::{DeletionLimit, OperatorConfig};

/// Those that were refused are there, and count when they go. What was answered by an error of the server
/// may be carried out all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_that_was_refused_is_given_back_to_the_minute() {
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
        world.run(Memory::default()).await;
        let context = world.context();
        let taken = context.budget().take(one, 1, std::time::Instant::now(), || 1);
        assert_eq!(taken.is_ok(), may_delete);
    }
}

/// A person was asked, and has not answered.
#[tokio::test(flavor = "multi_thread")]
async fn that_deletions_are_held_is_said_until_it_is_decided_anew() {
    let held = json!({"conditions": [{
        "type": "DeletionsHeld", "status": "True", "reason": "TooManyDeletions", "message": "...",
    }]});
    let script = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        _ => taken(),
    };
    let world = || Setup::new(pods(), ChildConfig::apply()).showing(held.clone());
    let says_so = |world: scripted::World| {
        world.asked("PATCH").remove(0).body.to_string().contains("DeletionsHeld")
    };
    let (failing, well) = (world().failing_for_good().before(script), world().before(script));
    failing.run(Memory::default()).await;
    let judged = well.run(Memory::default()).await;
    // The reconcile that judged it may have left the status to the next.
    let failing_then = world().failing_for_good().before(script);
    failing_then.run(judged.memory).await;
    assert_eq!([failing, well, failing_then].map(says_so), [true, false, false]);
}

/// As after versions went back: what is to be deleted waits, and is no less than before.
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
        let report = world.run(Memory::default()).await;
        assert_eq!(report.holds_no_deletions(), !is_held, "{report:?}");
        assert_eq!(report.writes.len(), usize::from(!is_held));
    }
}

/// How many of four children go in the first reconcile of a process that may delete half of them, or one in
/// any case, with four others that are to stay and are of this second.
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
    world.run(Memory::default()).await;
    world.asked("DELETE").len()
}

/// Nothing says that an earlier process held them: the parent has no conditions, or it ended early.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_newer_than_all_that_is_to_go_makes_the_share_no_smaller_after_a_restart() {
    for (kept_since, expected) in [(1, 4), (2, 4), (3, 0)] {
        let gone = gone_after_a_restart(kept_since, json!({})).await;
        assert_eq!(gone, expected, "kept ones of second {kept_since}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_held_stays_so_after_a_restart_though_its_minute_is_over() {
    let run = "4 of 8 children would be deleted, and a reconcile may delete 2";
    let minute = "4 of 8 children would be deleted, and the operator may delete 3 of its 8 within";
    for message in [run, minute] {
        let held = json!({"conditions": [{
            "type": "DeletionsHeld", "status": "True", "reason": "TooManyDeletions",
            "message": message,
        }]});
        assert_eq!(gone_after_a_restart(1, held).await, 0, "{message}");
    }
}

/// What a pause keeps from being done is judged when it is over; what need not be done is over.
#[tokio::test(flavor = "multi_thread")]
async fn a_paused_parent_of_which_nothing_is_to_go_no_longer_says_that_it_is_held() {
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
        let report = world.run(Memory::default()).await;
        assert_eq!(report.holds_no_deletions(), is_over, "{report:?}");
        assert!(report.memory.had_children());
        let said = world.asked("PATCH").remove(0).body.to_string();
        assert_eq!(said.contains("DeletionsHeld"), !is_over, "{said}");
    }
}
