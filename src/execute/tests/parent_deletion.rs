//! Parents that are being deleted and have children that Kubernetes does not collect.

use super::*;
use crate::history::{Decided, Decision};

/// A terminating child in another namespace.
fn slow() -> serde_json::Value {
    let mut slow = child("5", 1);
    slow["metadata"]["ownerReferences"] = json!([]);
    slow["metadata"]["namespace"] = json!("elsewhere");
    slow["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    slow["metadata"]["managedFields"] = json!([{"manager": "op", "operation": "Apply", "fieldsV1": {
        "f:metadata": {"f:labels": {
            "f:operetta.dev/parent-uid": {}, "f:app.kubernetes.io/managed-by": {},
        }},
    }}]);
    slow
}

#[tokio::test(flavor = "multi_thread")]
async fn owned_children_are_deleted_early_only_with_pending_others_and_without_foreign_finalizers()
{
    let ours = "operetta.dev/op";
    for (finalizers, left, deleted, released) in [
        (&[ours][..], vec![slow()], 1, false),
        (&[ours, "foregroundDeletion"], vec![slow()], 1, false),
        (&[ours, "orphan"], vec![slow()], 0, false),
        // It backs up the children, for example.
        (&[ours, "example.com/backup"], vec![slow()], 0, false),
        (&[ours], vec![], 0, true),
    ] {
        let items = json!({"metadata": {"resourceVersion": "9"}, "items": left});
        let config = ChildConfig::apply().delete_with_finalizer();
        let setup = Setup::new(pods(), config).caching(child("5", 1)).ending(finalizers);
        let world = setup.before(move |asked| match asked.method.as_str() {
            "GET" if asked.is_about("/api/v1/pods?") => (200, items.clone()),
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => (200, parent("10")),
            "DELETE" => done(),
            _ => taken(),
        });
        let report = world.reconcile(Memory::default()).await;
        assert_eq!(world.asked("DELETE").len(), deleted, "{finalizers:?}");
        assert_eq!(report.end == End::Finalized, released, "{finalizers:?}: {report:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undecodable_object_is_announced_about_itself_or_about_its_parents() {
    let world = Setup::new(pods(), ChildConfig::apply()).before(|_| done());
    let ours = json!({"name": "x", "namespace": "ns",
        "labels": {"app.kubernetes.io/managed-by": "op"}});
    let of_others = json!({"name": "x", "namespace": "ns",
        "labels": {"app.kubernetes.io/managed-by": "helm"}});
    let unlabelled = json!({"name": "x", "namespace": "ns"});
    let unreadable = json!({"name": "x", "namespace": "ns", "labels": "?"});
    let nameless = json!({"name": 7});
    for (ty, metadata, is_known, expected) in [
        (app(), &unlabelled, false, "App ns/x"),
        (app(), &nameless, false, ""),
        (pods(), &ours, true, "App ns/p"),
        (pods(), &nameless, true, "App ns/p"),
        (pods(), &nameless, false, ""),
        (pods(), &ours, false, "Pod ns/x"),
        (pods(), &unreadable, false, "Pod ns/x"),
        (pods(), &of_others, false, ""),
        (pods(), &unlabelled, false, ""),
        (secrets(), &ours, true, ""),
    ] {
        let text = json!({"metadata": metadata}).to_string();
        let object = Undecodable::read(&ty, &text, "odd".to_owned());
        assert_eq!(world.concerned(&object, is_known).join(","), expected, "{ty} {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn deletions_at_the_end_of_a_parent_are_announced_with_normal_events() {
    let mut left = slow();
    left["metadata"].as_object_mut().unwrap().remove("deletionTimestamp");
    let items = json!({"metadata": {"resourceVersion": "9"}, "items": [left]});
    let setup = Setup::new(pods(), ChildConfig::apply().delete_with_finalizer());
    let setup = setup.ending(&["operetta.dev/op"]).with_normal_events();
    let world = setup.before(move |asked| match asked.method.as_str() {
        "GET" if asked.is_about("/api/v1/pods?") => (200, items.clone()),
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => (200, parent("10")),
        "DELETE" => done(),
        _ => taken(),
    });
    world.reconcile(Memory::default()).await;
    world.until_asked("POST", "/events").await;
    let event = &world.asked("POST")[0].body;
    assert_eq!((&event["type"], &event["reason"]), (&json!("Normal"), &json!("Deleted")));
    assert_eq!(event["note"], "deleted Pod.v1 elsewhere/c");
}

#[tokio::test(flavor = "multi_thread")]
async fn throttling_stops_deletions_at_the_end_of_a_parent_too() {
    let named = |name: &str| {
        let mut left = slow();
        left["metadata"].as_object_mut().unwrap().remove("deletionTimestamp");
        left["metadata"]["name"] = json!(name);
        left
    };
    let items = json!({"metadata": {"resourceVersion": "9"}, "items": [named("a"), named("b")]});
    let setup = Setup::new(pods(), ChildConfig::apply().delete_with_finalizer());
    let world =
        setup.ending(&["operetta.dev/op"]).before(move |asked| match asked.method.as_str() {
            "GET" if asked.is_about("/api/v1/pods?") => (200, items.clone()),
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "DELETE" => {
                let busy =
                    json!({"kind": "Status", "code": 429, "details": {"retryAfterSeconds": 3}});
                (429, busy)
            }
            _ => taken(),
        });
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(world.asked("DELETE").len(), 1);
    let after = std::time::Duration::from_secs(3);
    assert_eq!(report.finished(world.config()), Finished::Throttled { after });
    let failure = report.failure().unwrap().to_string();
    assert!(failure.ends_with("1 other write waits"), "{failure}");
}

/// The condition is gone with the parent too.
#[tokio::test(flavor = "multi_thread")]
async fn a_leaving_parent_has_no_conflicts() {
    let id = ChildId { ty: pods(), key: ObjectKey::namespaced("ns", "c") };
    let foreign = ForeignChild {
        id: id.clone(),
        uid: Uid::new("other"),
        version: crate::object::ResourceVersion::Number(1),
        owner: "somebody".to_owned(),
        is_adoptable: false,
    };
    for (finalizers, counted) in [(None, 1), (Some(["foregroundDeletion"]), 0)] {
        let setup = Setup::new(pods(), ChildConfig::apply()).desiring(desired("c"));
        let setup = match finalizers {
            Some(finalizers) => setup.ending(&finalizers),
            None => setup,
        };
        let world = setup.before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            _ => taken(),
        });
        let mut memory = Memory::default();
        memory.learn_now(&Fact::Foreign(foreign.clone()));
        let report = world.reconcile(memory).await;
        assert_eq!(report.gauges.in_conflict.len(), counted, "{report:?}");
    }
}

/// It has no child that would show it.
#[tokio::test(flavor = "multi_thread")]
async fn a_finalization_that_waits_for_the_end_of_a_pause_is_shown() {
    let mut annotated = parent("3");
    annotated["metadata"]["annotations"] = json!({"operetta.dev/paused": "true"});
    for (of, is_operator_paused, finalizers, expected) in [
        (
            annotated,
            false,
            &["operetta.dev/op"][..],
            "deletion waits until the parent is no longer",
        ),
        (parent("3"), true, &["operetta.dev/op"], "deletion waits until the operator is no longer"),
        (parent("3"), true, &[], "finalizer waits until the operator is no longer"),
    ] {
        let setup = Setup::new(pods(), ChildConfig::apply().delete_with_finalizer()).of(of);
        let setup = if finalizers.is_empty() { setup } else { setup.ending(finalizers) };
        let world = setup.before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            _ => taken(),
        });
        if is_operator_paused {
            world.context().pause();
        }
        let report = world.reconcile(Memory::default()).await;
        let shown = report.unsettled().unwrap_or_default();
        assert_eq!(shown, format!("its {expected} paused"), "{report:?}");
        let conditions = world.asked("PATCH")[0].body["status"]["conditions"].clone();
        let ready = conditions.as_array().unwrap().iter().find(|it| it["type"] == "Ready").unwrap();
        assert_eq!((&ready["reason"], &ready["message"]), (&json!("Paused"), &json!(shown)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finalizer_that_blocks_a_child_is_named_also_by_a_terminating_parent() {
    let mut held = child("5", 2);
    held["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    let mut elsewhere = slow();
    elsewhere["metadata"]["finalizers"] = json!(["example.com/hold"]);
    let config = ChildConfig::apply().delete_with_finalizer();
    let of_living = Setup::new(pods(), ChildConfig::apply()).caching(held).desiring(desired("c"));
    let of_ending = Setup::new(pods(), config).ending(&["operetta.dev/op"]);
    for (setup, child) in [(of_living, "Pod.v1 ns/c"), (of_ending, "Pod.v1 elsewhere/c")] {
        let items = json!({"metadata": {"resourceVersion": "9"}, "items": [elsewhere.clone()]});
        let world = setup.before(move |asked| match asked.method.as_str() {
            "GET" if asked.is_about("/api/v1/pods?") => (200, items.clone()),
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            _ => taken(),
        });
        let report = world.reconcile(Memory::default()).await;
        let why = "it is being deleted, which waits for example.com/hold";
        assert_eq!(report.waiting, [format!("{child}: {why}")], "{report:?}");
        let decided = [Decision::stuck(child, Decided::Waiting, why.to_owned())];
        assert_eq!(report.decisions, decided);
    }
}
