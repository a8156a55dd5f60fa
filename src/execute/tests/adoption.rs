//! Objects without controller, and children of a predecessor.

use std::sync::OnceLock;

use super::*;

/// It may have got a controller since.
#[tokio::test(flavor = "multi_thread")]
async fn only_the_version_that_was_read_without_controller_is_adopted() {
    let script = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if asked.body["metadata"]["uid"].is_null() => refusal(409, "Conflict"),
        "PATCH" => (200, child("6", 2)),
        "GET" if of_child(asked) => {
            let mut uncontrolled = child("5", 1);
            uncontrolled["metadata"]["ownerReferences"] = json!([]);
            (200, uncontrolled)
        }
        "GET" => (200, parent("3")),
        _ => taken(),
    };
    let world =
        Setup::new(pods(), ChildConfig::apply().adopting()).desiring(desired("c")).before(script);
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(report.writes.len(), 1, "{report:?}");
    let writes = world.asked("PATCH").into_iter().filter(of_child);
    let proofs: Vec<_> =
        writes.map(|one| one.body["metadata"]["resourceVersion"].clone()).collect();
    assert_eq!(proofs, ["1", "5", "5"], "a create, a dry run, and the adoption");
}

/// As a user created it.
fn uncontrolled(version: &str) -> Value {
    let mut uncontrolled = child(version, 1);
    uncontrolled["apiVersion"] = json!("v1");
    uncontrolled["metadata"]["ownerReferences"] = json!([]);
    uncontrolled["metadata"]["managedFields"] = json!([{
        "manager": "kubectl", "operation": "Update", "apiVersion": "v1", "fieldsV1": {},
    }]);
    uncontrolled
}

/// Otherwise its fields would be handed over for nothing.
#[tokio::test(flavor = "multi_thread")]
async fn an_object_whose_adoption_would_be_refused_is_not_modified() {
    let script = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if asked.is_about("dryRun=All") => refusal(422, "Invalid"),
        "PATCH" if asked.body["metadata"]["uid"].is_null() => refusal(409, "Conflict"),
        "PATCH" => (200, child("6", 2)),
        "GET" if of_child(asked) => (200, uncontrolled("5")),
        "GET" => (200, parent("3")),
        _ => taken(),
    };
    let world =
        Setup::new(pods(), ChildConfig::apply().adopting()).desiring(desired("c")).before(script);
    let report = world.reconcile(Memory::default()).await;
    assert_eq!(report.failure().map(Failure::reason), Some("WriteFailed"), "{report:?}");
    let writes = world.asked("PATCH").into_iter().filter(of_child);
    assert_eq!(writes.count(), 2, "a create that was refused, and a dry run");
}

/// It may have got a controller since.
#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_changed_since_the_read_is_not_handed_over() {
    let version = AtomicUsize::new(5);
    let script = move |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if asked.body["metadata"]["uid"].is_null() => refusal(409, "Conflict"),
        "PATCH" => (200, child("9", 2)),
        "GET" if of_child(asked) => {
            (200, uncontrolled(&version.fetch_add(1, Ordering::AcqRel).to_string()))
        }
        "GET" => (200, parent("3")),
        _ => taken(),
    };
    let world =
        Setup::new(pods(), ChildConfig::apply().adopting()).desiring(desired("c")).before(script);
    let report = world.reconcile(Memory::default()).await;
    let writes = world.asked("PATCH").into_iter().filter(of_child);
    assert_eq!(writes.count(), 2, "a create that was refused, and a dry run");
    assert!(report.failure().is_none() && report.waiting.len() == 1, "{report:?}");
}

/// Otherwise the fields that were handed over would have no owner.
#[tokio::test(flavor = "multi_thread")]
async fn an_adoption_is_completed_although_the_operator_is_paused_meanwhile() {
    let message = "conflict with \"kube-controller-manager\" using v1";
    let cause = json!({"reason": "FieldManagerConflict", "field": ".spec.x", "message": message});
    let details = json!({"name": "c", "causes": [cause]});
    let held = (409, json!({"kind": "Status", "reason": "Conflict", "details": details}));
    for (what, answer) in [("held", held), ("outdated", refusal(409, "Conflict"))] {
        let operator = Arc::new(OnceLock::<Arc<Context>>::new());
        let (context, answers) = (operator.clone(), AtomicUsize::new(0));
        let script = move |asked: &scripted::Asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" if asked.is_about("dryRun=All") => (200, child("6", 2)),
            "PATCH" if asked.body["metadata"]["resourceVersion"] == "1" => refusal(409, "Conflict"),
            "PATCH" if asked.body["spec"].is_null() => (200, uncontrolled("6")),
            "PATCH" if answers.fetch_add(1, Ordering::AcqRel) == 0 => {
                context.get().unwrap().pause();
                answer.clone()
            }
            "PATCH" => (200, child("9", 2)),
            "GET" if of_child(asked) => (200, uncontrolled("5")),
            "GET" => (200, parent("3")),
            _ => taken(),
        };
        let config = ChildConfig::apply().adopting().with_conflicts(ConflictPolicy::Yield);
        let mut wanted = desired("c");
        wanted["spec"]["y"] = json!(2);
        let world = Setup::new(pods(), config).desiring(wanted).before(script);
        let _ = operator.set(world.context());
        let report = world.reconcile(Memory::default()).await;
        let verbs: Vec<_> = report.writes.iter().map(|write| write.verb).collect();
        assert_eq!((verbs, report.paused.is_none()), (vec![Verb::Adopted], true), "{what}");
    }
}

/// Undesired fields of the predecessor would remain unnoticed.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_cannot_be_taken_over_is_not_applied() {
    for (uid, code, sent) in [("cu", 403, "a take-over"), ("other", 200, "an apply")] {
        let mut old = child("5", 1);
        let entry = json!({
            "manager": "predecessor", "operation": "Update", "apiVersion": "v1",
            "fieldsV1": {"f:spec": {"f:x": {}}},
        });
        old["apiVersion"] = json!("v1");
        old["metadata"]["managedFields"] = json!([entry]);
        let mut live = old.clone();
        live["metadata"]["uid"] = json!(uid);
        let script = move |asked: &scripted::Asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" if asked.body["spec"].is_null() => refusal(code, "Forbidden"),
            "PATCH" => (200, child("9", 2)),
            "GET" => (200, live.clone()),
            _ => taken(),
        };
        let setup = Setup::new(pods(), ChildConfig::apply()).caching(old).desiring(desired("c"));
        let setup = setup.configured(|mut config| {
            config.predecessor.field_managers = vec!["predecessor".to_owned()];
            config
        });
        let world = setup.before(script);
        world.reconcile(Memory::default()).await;
        let writes = world.asked("PATCH").into_iter().filter(of_child);
        let is_apply = |asked: scripted::Asked| asked.body.get("spec").is_some();
        let sent_then: Vec<_> =
            writes.map(|one| if is_apply(one) { "an apply" } else { "a take-over" }).collect();
        assert_eq!(sent_then, [sent], "the live object is {uid}");
    }
}
