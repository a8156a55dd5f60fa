//! What a run leaves undone, because it would be wrong or in vain.

use std::sync::mpsc;

use super::*;
use crate::{history::Verb, operator::ConflictPolicy};

fn of_child(asked: &scripted::Asked) -> bool {
    asked.is_about("/pods/c")
}

/// The garbage collector may have taken it, and the watch of the parent be late.
#[tokio::test]
async fn a_child_that_is_missing_is_created_only_if_the_live_parent_is_as_planned_for() {
    let live = |field: &str, value: Value| {
        let mut live = parent("4");
        live["metadata"][field] = value;
        (200, live)
    };
    for (what, answer, creates) in [
        ("its status or labels changed", live("labels", json!({"a": "b"})), 1),
        ("it is being deleted", live("deletionTimestamp", json!("2026-01-01T00:00:00Z")), 0),
        ("its spec changed", live("generation", json!(2)), 0),
        ("it is another one", live("uid", json!("other")), 0),
        ("it is gone", refusal(404, "NotFound"), 0),
    ] {
        let script = move |asked: &scripted::Asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => (201, child("9", 2)),
            "GET" if asked.is_about("/apps/p") => answer.clone(),
            _ => taken(),
        };
        let world = Setup::new(pods(), ChildConfig::apply()).desiring(desired("c")).before(script);
        world.run(Memory { had_children: true, ..Memory::default() }).await;
        assert_eq!(
            world.asked("PATCH").iter().filter(|one| of_child(one)).count(),
            creates,
            "{what}"
        );
    }
}

#[tokio::test]
async fn an_object_of_somebody_else_is_not_tried_again_before_it_changes() {
    let version = Arc::new(AtomicUsize::new(5));
    let now = version.clone();
    let script = move |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => refusal(409, "Conflict"),
        "GET" if of_child(asked) => {
            let mut foreign = child(&now.load(Ordering::Acquire).to_string(), 1);
            foreign["metadata"]["ownerReferences"] = json!([]);
            (200, foreign)
        }
        "GET" => (200, parent("3")),
        _ => taken(),
    };
    let world = Setup::new(pods(), ChildConfig::apply()).desiring(desired("c")).before(script);
    let tries = || world.asked("PATCH").iter().filter(|one| of_child(one)).count();
    let first = world.run(Memory::default()).await;
    assert_eq!((first.failure().map(Failure::reason), tries()), (Some("Conflict"), 1));
    let second = world.run(first.memory).await;
    assert_eq!((second.failure().map(Failure::reason), tries()), (Some("Conflict"), 1));
    version.store(6, Ordering::Release);
    world.run(second.memory).await;
    assert_eq!(tries(), 2, "it may have been given up");
}

/// As if an admission policy made of every write what was there before.
#[tokio::test]
async fn a_write_that_changed_nothing_is_not_sent_again() {
    let script = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => (200, child("5", 1)),
        _ => taken(),
    };
    let world = Setup::new(pods(), ChildConfig::apply())
        .caching(child("5", 1))
        .desiring(desired("c"))
        .before(script);
    let first = world.run(Memory::default()).await;
    assert_eq!((first.writes.len(), first.noop_writes.len()), (0, 1));
    let second = world.run(first.memory).await;
    assert_eq!((second.unchanged, second.noop_writes.len()), (1, 0));
    assert_eq!(world.asked("PATCH").iter().filter(|one| of_child(one)).count(), 1);
}

/// It may have got a controller since.
#[tokio::test]
async fn only_the_version_that_was_found_to_be_of_nobody_is_adopted() {
    let script = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if asked.body["metadata"]["uid"].is_null() => refusal(409, "Conflict"),
        "PATCH" => (200, child("6", 2)),
        "GET" if of_child(asked) => {
            let mut of_nobody = child("5", 1);
            of_nobody["metadata"]["ownerReferences"] = json!([]);
            (200, of_nobody)
        }
        "GET" => (200, parent("3")),
        _ => taken(),
    };
    let world =
        Setup::new(pods(), ChildConfig::apply().adopting()).desiring(desired("c")).before(script);
    let report = world.run(Memory::default()).await;
    assert_eq!(report.writes.len(), 1, "{report:?}");
    let writes = world.asked("PATCH").into_iter().filter(of_child);
    let proofs: Vec<_> =
        writes.map(|one| one.body["metadata"]["resourceVersion"].clone()).collect();
    assert_eq!(proofs, ["1", "5", "5"], "a create, a dry run, and the adoption");
}

/// As an autoscaler holds the number of replicas.
#[tokio::test]
async fn an_object_is_adopted_also_if_a_field_of_it_is_left_to_others() {
    let script = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if asked.body["metadata"]["uid"].is_null() => refusal(409, "Conflict"),
        "PATCH" if asked.is_about("force=true") || asked.body.get("spec").is_none() => {
            (200, child("6", 1))
        }
        "PATCH" => {
            let message = "conflict with \"kube-controller-manager\" using v1";
            let cause = json!({
                "reason": "FieldManagerConflict", "field": ".spec.x", "message": message,
            });
            let details = json!({"name": "c", "causes": [cause]});
            (409, json!({"kind": "Status", "code": 409, "reason": "Conflict", "details": details}))
        }
        "GET" if of_child(asked) => {
            let mut of_nobody = child("5", 1);
            of_nobody["metadata"]["ownerReferences"] = json!([]);
            (200, of_nobody)
        }
        "GET" => (200, parent("3")),
        _ => taken(),
    };
    let how = ChildConfig::apply().adopting().with_conflicts(ConflictPolicy::Yield);
    let world = Setup::new(pods(), how).desiring(desired("c")).before(script);
    let report = world.run(Memory::default()).await;
    let verbs: Vec<_> = report.writes.iter().map(|write| write.verb).collect();
    assert_eq!(verbs, [Verb::Adopted], "{report:?}");
    assert_eq!(report.held, ["Pod.v1 ns/c: others hold .spec.x (`kube-controller-manager`)"]);
}

#[tokio::test]
async fn the_answer_of_a_handler_that_was_given_up_on_is_not_carried_out() {
    let (release, released) = mpsc::channel();
    let script = move |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => {
            // It is said while the handler still runs. Nobody listens to the second time.
            let _ = release.send(());
            with_status(&asked.body)
        }
        "PATCH" => (201, child("9", 2)),
        _ => taken(),
    };
    let world = Setup::new(pods(), ChildConfig::apply())
        .desiring(desired("c"))
        .answering_after(released)
        .before(script);
    let report = world.run(Memory::default()).await;
    assert_eq!(report.failure().map(Failure::reason), Some("HandlerOverdue"));
    assert!(!world.asked("PATCH").iter().any(of_child), "{report:?}");
}

#[tokio::test]
async fn the_status_of_a_parent_is_not_written_to_its_namesake() {
    for (uid, tries) in [("pu", 3), ("other", 1)] {
        let script = move |asked: &scripted::Asked| {
            let mut live = parent("9");
            live["metadata"]["uid"] = json!(uid);
            match asked.method.as_str() {
                "PATCH" => refusal(409, "Conflict"),
                "GET" => (200, live),
                _ => taken(),
            }
        };
        let world = Setup::new(pods(), ChildConfig::apply()).before(script);
        world.run(Memory::default()).await;
        assert_eq!(world.asked("PATCH").len(), tries, "{uid}");
    }
}

#[tokio::test]
async fn a_run_that_wrote_leaves_the_status_to_the_next_but_not_for_ever() {
    for (after_writes, writes_status) in [(0, false), (1, false), (2, true)] {
        let script = |asked: &scripted::Asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => (201, child("9", 2)),
            _ => taken(),
        };
        let world = Setup::new(pods(), ChildConfig::apply()).desiring(desired("c")).before(script);
        let report = world.run_after(after_writes, Memory::default()).await;
        assert_eq!((report.writes.len(), report.wrote_status), (1, writes_status));
    }
}

/// What is refused here may be so for ever.
#[tokio::test]
async fn a_deletion_that_is_refused_does_not_keep_the_others_from_theirs() {
    let mut other = child("6", 1);
    other["metadata"]["name"] = json!("d");
    other["metadata"]["uid"] = json!("du");
    let world = Setup::new(pods(), ChildConfig::apply())
        .caching(child("5", 1))
        .caching(other)
        .before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "DELETE" if of_child(asked) => refusal(403, "Forbidden"),
            "DELETE" => done(),
            _ => taken(),
        });
    let report = world.run(Memory::default()).await;
    assert_eq!(report.failure().map(Failure::reason), Some("WriteFailed"));
    assert_eq!((world.asked("DELETE").len(), report.writes.len()), (2, 1), "{report:?}");
}

/// What it wants now is not known: it may be just what it did not want before.
#[tokio::test]
async fn once_the_parent_is_found_to_have_changed_nothing_more_is_deleted() {
    let world = Setup::new(secrets(), ChildConfig::apply())
        .caching(child("5", 1))
        .caching_beside(pods(), child("6", 1))
        .before(|asked| match asked.method.as_str() {
            "GET" if asked.is_about("/apps/p") => {
                let mut changed = parent("4");
                changed["metadata"]["generation"] = json!(2);
                (200, changed)
            }
            "DELETE" => done(),
            _ => taken(),
        });
    let report = world.run(Memory::default()).await;
    assert_eq!(report.end, End::Outdated);
    assert!(world.asked("DELETE").is_empty(), "{:#?}", world.asked("DELETE"));
}

/// A handler may take its time, and the watch goes on meanwhile.
#[tokio::test]
async fn what_became_of_the_parent_while_its_handler_was_asked_counts() {
    let changed = |field: &str, value: Value| {
        let mut changed = parent("4");
        changed["metadata"][field] = value;
        changed
    };
    for (what, meanwhile, writes) in [
        ("its labels changed", changed("labels", json!({"a": "b"})), 1),
        ("it is being deleted", changed("deletionTimestamp", json!("2026-01-01T00:00:00Z")), 0),
        ("it is another one", changed("uid", json!("other")), 0),
    ] {
        let world = Setup::new(pods(), ChildConfig::apply())
            .desiring(desired("c"))
            .meanwhile(meanwhile)
            .before(|asked| match asked.method.as_str() {
                "PATCH" if asked.is_about("/status") => with_status(&asked.body),
                "PATCH" => (201, child("9", 2)),
                _ => taken(),
            });
        let report = world.run(Memory::default()).await;
        let expected = if writes == 0 { End::Outdated } else { End::Alive };
        assert_eq!((report.writes.len(), report.end), (writes, expected), "{what}");
    }
}

/// A person was asked, and has not answered.
#[tokio::test]
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
    // The run that judged it may have left the status to the next.
    let failing_then = world().failing_for_good().before(script);
    failing_then.run(judged.memory).await;
    assert_eq!([failing, well, failing_then].map(says_so), [true, false, false]);
}

/// As after versions went back: what is to be deleted waits, and is no less than before.
#[tokio::test]
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

/// It could not be read back, and so would be written in each run.
#[tokio::test]
async fn a_status_that_is_nested_too_deep_is_not_written() {
    let deep = (0..200).fold(json!("x"), |inner, _| json!([inner]));
    let world = Setup::new(pods(), ChildConfig::apply())
        .returning(json!({"conditions": [], "deep": deep}))
        .before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            _ => taken(),
        });
    let report = world.run(Memory::default()).await;
    assert_eq!(report.failure().map(Failure::reason), Some("HandlerFailed"));
    assert_eq!(report.finished(world.config()), Finished::FailedForGood);
    let said = world.asked("PATCH").remove(0).body.to_string();
    assert!(said.contains("the status: ") && !said.contains("\"deep\""), "{said}");
}
