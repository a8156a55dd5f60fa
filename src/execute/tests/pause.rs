//! Operators that are paused during a reconcile, and paused parents.

use std::sync::OnceLock;

use super::*;
use crate::reply::ErrorClass;

/// A child as the server holds it after it was applied.
fn applied(asked: &scripted::Asked) -> Reply {
    let mut created = asked.body.clone();
    created["metadata"]["uid"] = json!("new");
    created["metadata"]["resourceVersion"] = json!("20");
    (201, created)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconcile_in_progress_writes_nothing_more_when_its_operator_is_paused() {
    let paused = Arc::new(OnceLock::<Arc<Context>>::new());
    let operator = paused.clone();
    let world = Setup::new(pods(), ChildConfig::apply())
        .one_by_one()
        .desiring(desired("first"))
        .and(desired("second"))
        .before(move |asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => {
                operator.get().unwrap().pause();
                applied(asked)
            }
            _ => taken(),
        });
    let _ = paused.set(world.context());
    let report = world.reconcile(Memory::default()).await;
    let written = world.asked("PATCH").into_iter().filter(|asked| asked.is_about("/pods/"));
    assert_eq!(written.count(), 1);
    assert!(report.has_deferred_reconcile() && report.writes.len() == 1, "{report:?}");
    let held = report.paused.map(|pause| (pause.by, pause.held));
    assert_eq!(held, Some((PausedBy::Operator, Held::Writes(1))));
    // The next reconcile writes nothing.
    let second = world.reconcile(report.memory).await;
    assert!(second.has_deferred_reconcile() && second.writes.is_empty(), "{second:?}");
    assert!(world.context().resume() && !world.context().resume());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconcile_in_progress_deletes_nothing_more_when_its_operator_is_paused() {
    let paused = Arc::new(OnceLock::<Arc<Context>>::new());
    let operator = paused.clone();
    let mut other = child("5", 1);
    other["metadata"]["name"] = json!("d");
    let setup = Setup::new(pods(), ChildConfig::apply()).caching(child("5", 1)).caching(other);
    let world = setup.before(move |asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "DELETE" => {
            operator.get().unwrap().pause();
            done()
        }
        _ => taken(),
    });
    let _ = paused.set(world.context());
    let report = world.reconcile(Memory::default()).await;
    assert!(report.has_deferred_reconcile() && world.asked("DELETE").len() == 1, "{report:?}");
}

/// The reads before a deletion take time.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_is_not_recreated_when_its_operator_is_paused_during_the_checks() {
    type Check = fn(&scripted::Asked) -> bool;
    let on_dry_run: Check = |asked| asked.is_about("dryRun=All");
    let after_conflict: Check = |asked| asked.method == "GET" && of_child(asked);
    for (is_check, deletions) in [(on_dry_run, 0), (after_conflict, 1)] {
        let paused = Arc::new(OnceLock::<Arc<Context>>::new());
        let operator = paused.clone();
        let setup = Setup::new(pods(), ChildConfig::recreate()).caching(child("5", 1));
        let world = setup.desiring(desired("c")).before(move |asked| {
            if is_check(asked) {
                operator.get().unwrap().pause();
            }
            match asked.method.as_str() {
                "PATCH" if asked.is_about("/status") => with_status(&asked.body),
                "PATCH" => (200, child("9", 2)),
                "GET" => (200, child("6", 1)),
                "DELETE" => refusal(409, "Conflict"),
                _ => taken(),
            }
        });
        let _ = paused.set(world.context());
        let report = world.reconcile(Memory::default()).await;
        assert_eq!(world.asked("DELETE").len(), deletions, "{report:?}");
        let dry_runs = world.asked("PATCH").into_iter().filter(on_dry_run).count();
        assert_eq!(dry_runs, 2, "of the update and of a new object, and no third: {report:?}");
        let held = report.paused.map(|pause| (pause.by, pause.held));
        assert_eq!(held, Some((PausedBy::Operator, Held::Writes(1))));
    }
}

/// Only its finalizer deletes these children.
#[tokio::test(flavor = "multi_thread")]
async fn a_parent_that_is_paused_during_finalization_keeps_the_other_children() {
    let operator = Arc::new(OnceLock::<Arc<Context>>::new());
    let context = operator.clone();
    let items = ["a", "b"].map(|name| uncollectable_child(json!(name)));
    let list = json!({"metadata": {"resourceVersion": "9"}, "items": items});
    let setup = Setup::new(pods(), ChildConfig::apply().delete_with_finalizer());
    let world =
        setup.ending(&["operetta.dev/op"]).before(move |asked| match asked.method.as_str() {
            "GET" if asked.is_about("/api/v1/pods?") => (200, list.clone()),
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "DELETE" => {
                let mut live = paused("9");
                live["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
                live["metadata"]["finalizers"] = json!(["operetta.dev/op"]);
                let live = Object::from_value(&app(), &live, &<_>::default()).unwrap();
                context.get().unwrap().cache(None, Cache::Saw(live));
                done()
            }
            _ => taken(),
        });
    let _ = operator.set(world.context());
    let report = world.reconcile(Memory::default()).await;
    assert_eq!((world.asked("DELETE").len(), report.deletions()), (1, 1), "{report:?}");
}

/// The parent has no finalizer.
#[tokio::test(flavor = "multi_thread")]
async fn a_reconcile_that_began_paused_creates_nothing_although_the_pause_ended_meanwhile() {
    let paused = Arc::new(OnceLock::<Arc<Context>>::new());
    let operator = paused.clone();
    let setup =
        Setup::new(pods(), ChildConfig::apply().delete_with_finalizer()).desiring(desired("c"));
    let setup = setup.while_called(move || assert!(operator.get().unwrap().resume()));
    let world = setup.before(|asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        _ => taken(),
    });
    world.context().pause();
    let _ = paused.set(world.context());
    let report = world.reconcile(Memory::default()).await;
    assert!(report.has_deferred_reconcile() && report.writes.is_empty(), "{report:?}");
    assert!(!world.asked("PATCH").iter().any(|asked| asked.is_about("/pods/")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_without_pending_writes_does_not_show_the_pause_of_its_operator() {
    let world =
        Setup::new(pods(), ChildConfig::apply()).before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            _ => taken(),
        });
    world.context().pause();
    let report = world.reconcile(Memory::default()).await;
    assert!(report.paused.is_none() && !report.has_deferred_reconcile(), "{report:?}");
    assert!(!world.asked("PATCH")[0].body.to_string().contains("Paused"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_annotation_is_set_on_exactly_this_parent() {
    let world =
        Setup::new(pods(), ChildConfig::apply()).before(|asked| match asked.method.as_str() {
            "PATCH" if asked.body["metadata"]["uid"] == "pu" => (200, parent("9")),
            "PATCH" => refusal(409, "Conflict"),
            _ => taken(),
        });
    let key = ObjectKey::namespaced("ns", "p");
    let pause = |uid: &'static str, is_paused| {
        let (context, key) = (world.context(), key.clone());
        async move { context.annotate_paused(&key, &Uid::new(uid), is_paused).await }
    };
    pause("pu", true).await.unwrap();
    pause("pu", false).await.unwrap();
    let error = pause("other", true).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Conflict);
    let sent = world.asked("PATCH");
    let value = |at: usize| &sent[at].body["metadata"]["annotations"]["operetta.dev/paused"];
    assert_eq!([value(0), value(1)], [&json!("true"), &serde_json::Value::Null]);
    assert!(sent[0].path.contains("fieldManager=op"), "{}", sent[0].path);
}

fn paused(version: &str) -> serde_json::Value {
    let mut paused = parent(version);
    paused["metadata"]["annotations"] = json!({"operetta.dev/paused": "true"});
    paused
}

/// The user who pauses a parent expects no more writes.
#[tokio::test(flavor = "multi_thread")]
async fn a_parent_that_is_paused_during_the_handler_call_is_not_modified() {
    let world = Setup::new(pods(), ChildConfig::apply())
        .desiring(desired("c"))
        .meanwhile(paused("4"))
        .before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => applied(asked),
            _ => taken(),
        });
    let report = world.reconcile(Memory::default()).await;
    assert!(report.writes.is_empty(), "{report:?}");
    let held = report.paused.map(|pause| (pause.by, pause.held));
    assert_eq!(held, Some((PausedBy::Annotation, Held::Writes(1))));
    let status = world.asked("PATCH")[0].body.to_string();
    // The value of the annotation is not shown.
    let paused = "the annotation operetta.dev/paused pauses it: nothing is written; 1 write is";
    assert!(status.contains("PausedByAnnotation") && status.contains(paused), "{status}");
}

/// Only the live read after the conflict shows the annotation.
#[tokio::test(flavor = "multi_thread")]
async fn a_parent_that_is_found_paused_after_a_conflict_keeps_its_finalizer() {
    found_paused_after_a_conflict(PausedBy::Annotation, paused("9")).await;
    found_paused_after_a_conflict(PausedBy::Operator, parent("9")).await;
}

async fn found_paused_after_a_conflict(by: PausedBy, mut live: serde_json::Value) {
    live["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    live["metadata"]["finalizers"] = json!(["operetta.dev/op"]);
    let context = Arc::new(OnceLock::<Arc<Context>>::new());
    let operator = context.clone();
    let setup = Setup::new(pods(), ChildConfig::apply().delete_with_finalizer());
    let world =
        setup.ending(&["operetta.dev/op"]).before(move |asked| match asked.method.as_str() {
            "GET" if asked.is_about("/api/v1/pods?") => {
                (200, json!({"metadata": {"resourceVersion": "9"}, "items": []}))
            }
            "GET" => (200, live.clone()),
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => {
                if by == PausedBy::Operator {
                    operator.get().unwrap().pause();
                }
                refusal(409, "Conflict")
            }
            _ => taken(),
        });
    let _ = context.set(world.context());
    let report = world.reconcile(Memory::default()).await;
    let of_finalizers =
        |asked: &scripted::Asked| asked.body["metadata"].get("finalizers").is_some();
    let tries = world.asked("PATCH").into_iter().filter(of_finalizers).count();
    assert_eq!((tries, report.end), (1, End::Alive), "{report:?}");
    let held = report.paused.map(|pause| (pause.by, pause.held));
    assert_eq!(held, Some((by, Held::Finalizing)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_parent_reports_an_undecodable_child() {
    let world = Setup::new(pods(), ChildConfig::apply())
        .leaving_out(&child("5", 1))
        .meanwhile(paused("4"))
        .before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "GET" if asked.is_about("/pods/c") => (200, json!({"metadata": "odd"})),
            _ => taken(),
        });
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(report.failure().map(Failure::reason), Some("WriteFailed"), "{report:?}");
    assert!(report.paused.is_some());
}

/// The user who sets another value expects the parent to be paused.
#[tokio::test(flavor = "multi_thread")]
async fn an_annotation_value_without_effect_is_announced_once() {
    let annotated = |value: &str| {
        let mut parent = parent("3");
        parent["metadata"]["annotations"] = json!({"operetta.dev/paused": value});
        let setup = Setup::new(pods(), ChildConfig::apply()).of(parent);
        setup.before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            _ => taken(),
        })
    };
    let world = annotated("yes");
    let first = world.reconcile(Memory::default()).await;
    world.until_asked("POST", "/events").await;
    let event = &world.asked("POST")[0].body;
    assert_eq!(event["reason"], "NotPaused");
    let note = event["note"].as_str().unwrap();
    assert!(note.contains("\"yes\"") && note.ends_with("set it to \"true\""), "{note}");
    let memory = world.reconcile(first.memory).await.memory;
    world.context().events().flush().await;
    assert_eq!(world.asked("POST").len(), 1, "once");
    let other = annotated("on");
    other.reconcile(memory).await;
    other.until_asked("POST", "/events").await;
}

/// A pause does not hide what others do.
#[tokio::test(flavor = "multi_thread")]
async fn a_paused_parent_still_reports_terminating_and_held_children() {
    let mut ending = child("5", 2);
    ending["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let ready = |world: &scripted::World| {
        let conditions = world.asked("PATCH").last().unwrap().body["status"]["conditions"].clone();
        conditions.as_array().unwrap().iter().find(|it| it["type"] == "Ready").cloned().unwrap()
    };
    let answered = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "GET" => (200, child("5", 1)),
        "PATCH" => {
            let cause = json!({
                "reason": "FieldManagerConflict", "field": ".spec.x",
                "message": "conflict with \"me\"",
            });
            let details = json!({"name": "c", "causes": [cause]});
            (409, json!({"kind": "Status", "code": 409, "reason": "Conflict", "details": details}))
        }
        _ => taken(),
    };
    let setup = Setup::new(pods(), ChildConfig::apply()).of(paused("3")).caching(ending);
    let world = setup.desiring(desired("c")).before(answered);
    world.reconcile(Memory::default()).await;
    assert_eq!(ready(&world)["reason"], "Waiting");
    let reporting = ChildConfig::apply().with_conflicts(ConflictPolicy::Report);
    let setup = Setup::new(pods(), reporting).caching(child("5", 1)).desiring(desired("c"));
    let world = setup.before(answered);
    let memory = world.reconcile(Memory::default()).await.memory;
    world.changed_parent(&paused("10"));
    let memory = world.reconcile(memory).await.memory;
    let shown = ready(&world);
    let message = shown["message"].as_str().unwrap();
    assert_eq!((&shown["reason"], message.contains(".spec.x (`me`)")), (&json!("Conflict"), true));
    // The condition disappears with its cause.
    let labels = json!({"f:operetta.dev/parent-uid": {}, "f:app.kubernetes.io/managed-by": {}});
    let owners = json!({"k:{\"uid\":\"pu\"}": {}});
    let fields = json!({
        "f:metadata": {"f:labels": labels, "f:ownerReferences": owners}, "f:spec": {"f:x": {}},
    });
    let mut ours = child("6", 2);
    ours["metadata"]["managedFields"] =
        json!([{"manager": "op", "operation": "Apply", "fieldsV1": fields}]);
    world.changed(&ours);
    world.changed_parent(&paused("11"));
    world.reconcile(memory).await;
    assert_eq!(ready(&world)["reason"], "Synced");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_parent_still_reports_an_altered_child() {
    let setup = Setup::new(pods(), ChildConfig::on_delete()).caching(child("5", 1));
    let world =
        setup.of(paused("3")).desiring(desired("c")).before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" if asked.is_about("dryRun=All") => (200, child("5", 1)),
            _ => taken(),
        });
    let report = world.reconcile(Memory::default()).await;
    let message = "Pod.v1 ns/c: the server has changed .spec.x of what was applied";
    assert_eq!(report.held, [message], "and not that it waits to be deleted");
}
