//! Statuses that are refused, outdated, or cannot be written yet.

use super::*;
use crate::operator::{Conditions, OperatorConfig};

#[tokio::test(flavor = "multi_thread")]
async fn a_status_is_written_again_only_for_the_parent_that_it_is_about() {
    type Change = fn(&mut Value);
    let table: [(&str, Change, usize); 5] = [
        ("it has other labels", |live| live["metadata"]["labels"] = json!({"a": "b"}), 3),
        ("it has left", |live| live["metadata"]["labels"] = json!({"tier": "tin"}), 1),
        ("it was replaced", |live| live["metadata"]["uid"] = json!("other"), 1),
        ("its spec has changed", |live| live["metadata"]["generation"] = json!(2), 1),
        (
            "it is being deleted",
            |live| {
                live["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            },
            1,
        ),
    ];
    for (what, change, tries) in table {
        let mut live = parent("9");
        change(&mut live);
        let script = move |asked: &scripted::Asked| match asked.method.as_str() {
            "PATCH" => refusal(409, "Conflict"),
            "GET" => (200, live.clone()),
            _ => taken(),
        };
        let setup = Setup::new(pods(), ChildConfig::apply());
        let world = setup.configured(|it| it.with_parent_selector("tier!=tin")).before(script);
        world.reconcile(Memory::default()).await;
        assert_eq!(world.asked("PATCH").len(), tries, "{what}");
    }
}

/// It may belong to another operator, which writes its status.
#[tokio::test(flavor = "multi_thread")]
async fn no_status_is_written_for_a_parent_that_left_during_a_failed_call() {
    for (tier, statuses) in [("gold", 1), ("tin", 0)] {
        let mut left = parent("4");
        left["metadata"]["labels"] = json!({"tier": tier});
        let setup = Setup::new(pods(), ChildConfig::apply()).failing_for_good().meanwhile(left);
        let setup = setup.configured(|it| it.with_parent_selector("tier!=tin"));
        let world = setup.before(|asked| with_status(&asked.body));
        let report = world.reconcile(Memory::default()).await;
        assert!(report.failure().is_some(), "{report:?}");
        assert_eq!(world.asked("PATCH").len(), statuses, "{tier}");
    }
}

/// The refused field may come from the handler.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_status_is_reported_by_the_conditions_alone() {
    let world =
        Setup::new(pods(), ChildConfig::apply()).before(|asked| match asked.method.as_str() {
            "PATCH" if asked.body.to_string().contains("WriteFailed") => with_status(&asked.body),
            "PATCH" => refusal(422, "Invalid"),
            _ => taken(),
        });
    let report = world.reconcile(Memory::default()).await;
    assert!(report.wrote_status && report.failure().is_some(), "{report:?}");
    let known = report.memory.parent().map(ToString::to_string);
    assert_eq!(known.as_deref(), Some("9"), "otherwise it would seem changed by someone else");
    assert_eq!(report.memory.status(), None, "the handler's status was not written");
}

/// Otherwise each reconcile would try to create the child, and a preview would show its creation.
#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_object_stays_known_after_a_failed_status_write() {
    let script = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => refusal(500, "InternalError"),
        "PATCH" => refusal(409, "Conflict"),
        "GET" if of_child(asked) => {
            let mut foreign = child("8", 1);
            foreign["metadata"]["ownerReferences"] = json!([]);
            (200, foreign)
        }
        "GET" => (200, parent("3")),
        _ => taken(),
    };
    let world = Setup::new(pods(), ChildConfig::apply()).desiring(desired("c")).before(script);
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(report.failure().map(Failure::reason), Some("Conflict"), "{report:?}");
    assert_eq!(report.memory.foreign().len(), 1);
}

/// Someone changes the parent between all requests, and its type has lost the subresource.
#[tokio::test(flavor = "multi_thread")]
async fn a_missing_status_subresource_is_not_tried_forever() {
    let version = AtomicUsize::new(4);
    let script = move |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" => refusal(404, "NotFound"),
        "GET" => (200, parent(&version.fetch_add(1, Ordering::AcqRel).to_string())),
        _ => taken(),
    };
    let world = Setup::new(pods(), ChildConfig::apply()).before(script);
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(world.asked("PATCH").len(), 3);
    assert_eq!(report.failure().map(Failure::reason), Some("WriteFailed"), "{report:?}");
}

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

/// Others may use the same condition types.
#[tokio::test(flavor = "multi_thread")]
async fn a_condition_with_our_type_and_another_reason_is_kept() {
    for (ty, reason, stays) in [
        ("Paused", "OfSomebodyElse", true),
        ("DeletionsHeld", "OfSomebodyElse", true),
        ("Flapping", "OfSomebodyElse", true),
        ("Paused", "OperatorPaused", false),
        ("Stalled", "WriteFailed", false),
        ("DeletionsHeld", "TooManyDeletions", false),
        ("Flapping", "UnstableHandler", false),
    ] {
        let mut before = parent("3");
        let condition = json!({"type": ty, "status": "True", "reason": reason, "message": ""});
        before["status"] = json!({"conditions": [condition]});
        let setup = Setup::new(pods(), ChildConfig::apply()).of(before);
        let world = setup.before(|asked| match asked.method.as_str() {
            "PATCH" => with_status(&asked.body),
            _ => taken(),
        });
        world.reconcile(Memory::default()).await;
        let written = world.asked("PATCH")[0].body["status"]["conditions"].to_string();
        assert_eq!(written.contains(reason), stays, "{written}");
    }
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
    let preview = preview(&world.context(), scripted::World::job(0, Memory::default())).await;
    let refused = preview.unwrap_err().to_string();
    assert!(refused.contains("nested more than 100 levels deep"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reserved_condition_is_announced_once() {
    let mine = json!({"conditions": [{"type": "Ready", "status": "True", "reason": "Mine"}]});
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
    assert!(note.contains("conditions Ready, Reconciling and Stalled"), "{note}");
}

/// A typed server omits zeros and normalises quantities.
#[tokio::test(flavor = "multi_thread")]
async fn a_status_change_that_the_server_does_not_keep_is_sent_once_per_state() {
    let mut document = openapi();
    document["components"]["schemas"]["App"]["properties"]["status"] =
        json!({"x-kubernetes-preserve-unknown-fields": true});
    let now = Arc::new(std::sync::Mutex::new(parent("3")));
    let live = now.clone();
    let setup = Setup::new(pods(), ChildConfig::apply()).configured(OperatorConfig::sharing_status);
    let setup = setup.publishing((200, document)).returning(json!({"replicas": 0}));
    let world = setup.before(move |asked| match asked.method.as_str() {
        "PATCH" => (200, live.lock().unwrap().clone()),
        _ => taken(),
    });
    let mut memory = Memory::default();
    for (version, phase, sent) in [("3", "a", 1), ("3", "a", 1), ("4", "a", 2), ("5", "b", 3)] {
        let mut changed = parent(version);
        if version != "3" {
            changed["status"] = json!({"phase": phase});
        }
        *now.lock().unwrap() = changed.clone();
        world.changed_parent(&changed);
        let report = world.reconcile(memory).await;
        assert!(!report.wrote_status, "it changed nothing");
        assert_eq!(world.asked("PATCH").len(), sent, "at version {version}");
        memory = report.memory;
    }
}

/// Others may have written any value, with the names of our conditions.
#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_status_is_tolerated() {
    for status in
        [json!("Paused"), json!(["DeletionsHeld"]), json!(7), json!({"conditions": "Flapping"})]
    {
        let mut odd = parent("3");
        odd["metadata"]["annotations"] = json!({"words": "Paused DeletionsHeld Flapping"});
        odd["status"] = status.clone();
        let setup = Setup::new(pods(), ChildConfig::apply()).of(odd).caching(child("5", 1));
        let world = setup.before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "DELETE" => done(),
            _ => taken(),
        });
        let report = world.reconcile(Memory::default()).await;
        assert_eq!(report.failure().map(Failure::reason), None, "{status}");
        assert!(report.deletions() == 1, "{report:?}");
        assert_eq!(Conditions::of(&world.parent().unwrap()), Conditions::new());
    }
}
