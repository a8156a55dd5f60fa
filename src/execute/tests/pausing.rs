//! An operator that is paused while a reconcile is under way, and parents that are paused by name.

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
async fn a_reconcile_that_is_under_way_writes_nothing_more_when_its_operator_is_paused() {
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
    let report = world.run(Memory::default()).await;
    let written = world.asked("PATCH").into_iter().filter(|asked| asked.is_about("/pods/"));
    assert_eq!(written.count(), 1);
    assert!(report.owes_reconcile() && report.writes.len() == 1, "{report:?}");
    let held = report.paused.map(|pause| (pause.by, pause.held));
    assert_eq!(held, Some((PausedBy::Operator, Held::Writes(1))));
    // The one that follows writes nothing at all, and what was held is done when that is over.
    let second = world.run(report.memory).await;
    assert!(second.owes_reconcile() && second.writes.is_empty(), "{second:?}");
    assert!(world.context().resume() && !world.context().resume());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconcile_that_is_under_way_deletes_nothing_more_either() {
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
    let report = world.run(Memory::default()).await;
    assert!(report.owes_reconcile() && world.asked("DELETE").len() == 1, "{report:?}");
}

/// The looks before a deletion are requests, and take their time.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_is_looked_at_before_it_is_recreated_stays_when_its_operator_is_paused() {
    type Look = fn(&scripted::Asked) -> bool;
    let on_trial: Look = |asked| asked.is_about("dryRun=All");
    let after_conflict: Look = |asked| asked.method == "GET" && of_child(asked);
    for (look, deletions) in [(on_trial, 0), (after_conflict, 1)] {
        let paused = Arc::new(OnceLock::<Arc<Context>>::new());
        let operator = paused.clone();
        let setup = Setup::new(pods(), ChildConfig::recreate()).caching(child("5", 1));
        let world = setup.desiring(desired("c")).before(move |asked| {
            if look(asked) {
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
        let report = world.run(Memory::default()).await;
        assert_eq!(world.asked("DELETE").len(), deletions, "{report:?}");
        let trials = world.asked("PATCH").into_iter().filter(on_trial).count();
        assert_eq!(trials, 2, "of the update and of a new object, and no third: {report:?}");
        let held = report.paused.map(|pause| (pause.by, pause.held));
        assert_eq!(held, Some((PausedBy::Operator, Held::Writes(1))));
    }
}

/// Its children are those that only its finalizer deletes.
#[tokio::test(flavor = "multi_thread")]
async fn a_parent_that_is_paused_while_its_children_go_keeps_the_others() {
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
    let report = world.run(Memory::default()).await;
    assert_eq!((world.asked("DELETE").len(), report.deletions()), (1, 1), "{report:?}");
}

/// The finalizer was not put on the parent.
#[tokio::test(flavor = "multi_thread")]
async fn a_reconcile_that_began_paused_creates_nothing_although_the_pause_ended_under_way() {
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
    let report = world.run(Memory::default()).await;
    assert!(report.owes_reconcile() && report.writes.is_empty(), "{report:?}");
    assert!(!world.asked("PATCH").iter().any(|asked| asked.is_about("/pods/")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_of_which_nothing_is_to_be_written_says_nothing_of_the_pause_of_its_operator() {
    let world =
        Setup::new(pods(), ChildConfig::apply()).before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            _ => taken(),
        });
    world.context().pause();
    let report = world.run(Memory::default()).await;
    assert!(report.paused.is_none() && !report.owes_reconcile(), "{report:?}");
    assert!(!world.asked("PATCH")[0].body.to_string().contains("Paused"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_annotation_is_put_on_exactly_the_parent_that_is_meant() {
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

/// A handler may take its time, and who pauses a parent sees that nothing happens any more.
#[tokio::test(flavor = "multi_thread")]
async fn a_parent_that_is_paused_while_its_handler_is_asked_is_left_alone() {
    let world = Setup::new(pods(), ChildConfig::apply())
        .desiring(desired("c"))
        .meanwhile(paused("4"))
        .before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" => applied(asked),
            _ => taken(),
        });
    let report = world.run(Memory::default()).await;
    assert!(report.writes.is_empty(), "{report:?}");
    let held = report.paused.map(|pause| (pause.by, pause.held));
    assert_eq!(held, Some((PausedBy::Annotation, Held::Writes(1))));
    let said = world.asked("PATCH")[0].body.to_string();
    // Whatever its value is exactly.
    let paused = "the annotation operetta.dev/paused pauses it: nothing is written; 1 write is";
    assert!(said.contains("PausedByAnnotation") && said.contains(paused), "{said}");
}

/// The watch has not told of the annotation: the live read after the conflict does.
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
    let report = world.run(Memory::default()).await;
    let of_finalizers =
        |asked: &scripted::Asked| asked.body["metadata"].get("finalizers").is_some();
    let tries = world.asked("PATCH").into_iter().filter(of_finalizers).count();
    assert_eq!((tries, report.end), (1, End::Alive), "{report:?}");
    let held = report.paused.map(|pause| (pause.by, pause.held));
    assert_eq!(held, Some((by, Held::Finalizing)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_parent_says_that_a_child_cannot_be_read() {
    let world = Setup::new(pods(), ChildConfig::apply())
        .leaving_out(&child("5", 1))
        .meanwhile(paused("4"))
        .before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "GET" if asked.is_about("/pods/c") => (200, json!({"metadata": "odd"})),
            _ => taken(),
        });
    let report = world.run(Memory::default()).await;
    assert_eq!(report.failure().map(Failure::reason), Some("WriteFailed"), "{report:?}");
    assert!(report.paused.is_some());
}

/// Nothing but the word pauses, and somebody who writes another one believes that the parent is paused.
#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_pauses_nothing_is_told_once() {
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
    let first = world.run(Memory::default()).await;
    world.until_asked("POST", "/events").await;
    let event = &world.asked("POST")[0].body;
    assert_eq!(event["reason"], "NotPaused");
    let note = event["note"].as_str().unwrap();
    assert!(note.contains("\"yes\"") && note.ends_with("does, in whatever case"), "{note}");
    let memory = world.run(first.memory).await.memory;
    world.context().events().told().await;
    assert_eq!(world.asked("POST").len(), 1, "once");
    let other = annotated("on");
    other.run(memory).await;
    other.until_asked("POST", "/events").await;
}

/// A pause hides nothing of what others do.
#[tokio::test(flavor = "multi_thread")]
async fn a_paused_parent_still_tells_of_children_that_go_or_are_held_by_others() {
    let mut ending = child("5", 2);
    ending["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let ready = |world: &scripted::World| {
        let said = world.asked("PATCH").last().unwrap().body["status"]["conditions"].clone();
        said.as_array().unwrap().iter().find(|it| it["type"] == "Ready").cloned().unwrap()
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
    world.run(Memory::default()).await;
    assert_eq!(ready(&world)["reason"], "Waiting");
    let reporting = ChildConfig::apply().with_conflicts(ConflictPolicy::Report);
    let setup = Setup::new(pods(), reporting).caching(child("5", 1)).desiring(desired("c"));
    let world = setup.before(answered);
    let memory = world.run(Memory::default()).await.memory;
    world.changed_parent(&paused("10"));
    let memory = world.run(memory).await.memory;
    let said = ready(&world);
    let message = said["message"].as_str().unwrap();
    assert_eq!((&said["reason"], message.contains(".spec.x (`me`)")), (&json!("Conflict"), true));
    // What is no longer so is not said either.
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
    world.run(memory).await;
    assert_eq!(ready(&world)["reason"], "Synced");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_parent_still_tells_what_the_server_made_of_a_child() {
    let setup = Setup::new(pods(), ChildConfig::on_delete()).caching(child("5", 1));
    let world =
        setup.of(paused("3")).desiring(desired("c")).before(|asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" if asked.is_about("dryRun=All") => (200, child("5", 1)),
            _ => taken(),
        });
    let report = world.run(Memory::default()).await;
    let said = "Pod.v1 ns/c: the server has changed .spec.x of what was applied";
    assert_eq!(report.held, [said], "and not that it waits to be deleted");
}
