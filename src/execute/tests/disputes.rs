//! Fields that others take during a write that yields.

use super::*;
use crate::history::{Decided, Decision};

fn held(field: &str) -> Reply {
    let cause = json!({
        "reason": "FieldManagerConflict", "field": field, "message": "conflict with \"me\"",
    });
    let details = json!({"name": "c", "causes": [cause]});
    (409, json!({"kind": "Status", "code": 409, "reason": "Conflict", "details": details}))
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_that_others_take_between_two_tries_are_yielded_too() {
    let tries = AtomicUsize::new(0);
    let script = move |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => match tries.fetch_add(1, Ordering::AcqRel) {
            0 => held(".spec.x"),
            1 => held(".spec.y"),
            _ => (200, child("9", 1)),
        },
        "GET" => (200, child("8", 1)),
        _ => taken(),
    };
    let mut wanted = desired("c");
    wanted["spec"] = json!({"x": 2, "y": 2, "z": 2});
    let config = ChildConfig::apply().with_conflicts(ConflictPolicy::Yield);
    let world = Setup::new(pods(), config).caching(child("8", 1)).desiring(wanted).before(script);
    let report = world.reconcile(Memory::default()).await;
    let applies = world.asked("PATCH").into_iter().filter(|asked| asked.is_about("/pods/c"));
    let applies: Vec<_> = applies.collect();
    assert!(!applies.iter().any(|asked| asked.is_about("force=true")), "{applies:#?}");
    let specs: Vec<_> = applies.iter().map(|asked| asked.body["spec"].clone()).collect();
    assert_eq!(specs, [json!({"x": 2, "y": 2, "z": 2}), json!({"y": 2, "z": 2}), json!({"z": 2})]);
    // The field managers may differ at the next version.
    let proofs = applies.iter().map(|asked| asked.body["metadata"]["resourceVersion"].clone());
    assert_eq!(proofs.skip(1).collect::<Vec<_>>(), ["8", "8"]);
    assert_eq!(
        report.held,
        ["Pod.v1 ns/c: other field managers own .spec.x (`me`), .spec.y (`me`)"]
    );
}

fn managed_by(mut child: Value, managers: &[&str]) -> Value {
    let entry = |manager: &&str| {
        let spec = json!({"f:spec": {"f:x": {}}});
        json!({"manager": manager, "operation": "Apply", "fieldsV1": spec})
    };
    child["metadata"]["managedFields"] = managers.iter().map(entry).collect();
    child
}

/// Otherwise it would be taken only after another change of the object.
#[tokio::test(flavor = "multi_thread")]
async fn fields_that_others_release_before_the_read_are_applied() {
    for policy in [ConflictPolicy::Report, ConflictPolicy::Yield] {
        let tries = AtomicUsize::new(0);
        let script = move |asked: &scripted::Asked| match asked.method.as_str() {
            "PATCH" if asked.is_about("/status") => with_status(&asked.body),
            "PATCH" if tries.fetch_add(1, Ordering::AcqRel) == 0 => held(".spec.x"),
            "PATCH" => (200, child("9", 2)),
            "GET" => (200, managed_by(child("8", 1), &["op"])),
            _ => taken(),
        };
        let setup = Setup::new(pods(), ChildConfig::apply().with_conflicts(policy));
        let before = managed_by(child("5", 1), &["op", "me"]);
        let world = setup.caching(before).desiring(desired("c")).before(script);
        let report = world.reconcile(Memory::default()).await;
        let applies = world.asked("PATCH").into_iter().filter(of_child);
        let applies: Vec<_> = applies.collect();
        assert!(applies.len() == 2 && applies.iter().all(|it| it.body["spec"]["x"] == 2));
        assert!(!applies.iter().any(|asked| asked.is_about("force=true")), "{applies:#?}");
        assert!(report.writes.len() == 1 && report.held.is_empty(), "{report:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn held_fields_are_announced_only_when_they_change() {
    let field = Arc::new(AtomicUsize::new(0));
    let now = field.clone();
    let script = move |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if asked.is_about("/pods/c") => {
            held([".spec.x", ".spec.y"][now.load(Ordering::Acquire)])
        }
        "GET" => (200, child("5", 1)),
        _ => taken(),
    };
    let mut wanted = desired("c");
    wanted["spec"] = json!({"x": 2, "y": 2});
    let config = ChildConfig::apply().with_conflicts(ConflictPolicy::Report);
    let world = Setup::new(pods(), config).caching(child("5", 1)).desiring(wanted).before(script);
    let mut memory = Memory::default();
    for _ in 0..3 {
        memory = world.reconcile(memory).await.memory;
    }
    field.store(1, Ordering::Release);
    memory.forget_last_applied();
    world.reconcile(memory).await;
    let notes = || world.asked("POST").into_iter().map(|it| it.body["note"].to_string());
    world.until(|| notes().any(|note| note.contains(".spec.y"))).await;
    assert_eq!(notes().count(), 2);
    assert!(
        !world.asked("PATCH").iter().any(|it| it.is_about("/events")),
        "no Event was counted up"
    );
}

/// A field held by others was not written, so nobody reverted it.
#[tokio::test(flavor = "multi_thread")]
async fn single_repairs_beside_a_held_field_are_no_flapping() {
    let held_by_others = |x: u64, spec: Value| {
        let mut live = child("1", x);
        live["spec"] = spec;
        live["metadata"]["managedFields"] = json!([{
            "manager": "op", "operation": "Apply", "fieldsV1": {"f:spec": {
                "f:a": {}, "f:b": {}, "f:c": {}, "f:d": {},
            }},
        }]);
        live
    };
    let version = Arc::new(AtomicUsize::new(10));
    let at = move |mut live: Value| {
        live["metadata"]["resourceVersion"] =
            json!(version.fetch_add(1, Ordering::AcqRel).to_string());
        live
    };
    let now = Arc::new(std::sync::Mutex::new(at(held_by_others(1, json!({"x": 1})))));
    let (live, next) = (now.clone(), at.clone());
    let script = move |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" if asked.body["spec"].get("x").is_some() => held(".spec.x"),
        "PATCH" => {
            let mut spec = asked.body["spec"].clone();
            spec["x"] = json!(1);
            let written = next(held_by_others(1, spec));
            live.lock().unwrap().clone_from(&written);
            (200, written)
        }
        "GET" => (200, live.lock().unwrap().clone()),
        _ => taken(),
    };
    let wanted_spec = json!({"x": 2, "a": 2, "b": 2, "c": 2, "d": 2});
    let mut wanted = desired("c");
    wanted["spec"] = wanted_spec.clone();
    let config = ChildConfig::apply().with_conflicts(ConflictPolicy::Yield);
    let first = now.lock().unwrap().clone();
    let world = Setup::new(pods(), config).caching(first).desiring(wanted).before(script);
    let mut memory = world.reconcile(Memory::default()).await.memory;
    for field in ["a", "b", "c", "d"] {
        let mut spec = wanted_spec.clone();
        spec["x"] = json!(1);
        spec[field] = json!("theirs");
        let changed = at(held_by_others(1, spec));
        now.lock().unwrap().clone_from(&changed);
        world.changed(&changed);
        let report = world.reconcile(memory).await;
        assert_eq!(report.writes.len(), 1, "{field}: {report:?}");
        let drifted: Vec<_> = report.writes.iter().flat_map(|it| it.paths.clone()).collect();
        assert_eq!(drifted, [format!(".spec.{field}")]);
        memory = report.memory;
        assert!(memory.flapping().condition().is_none(), "after {field}");
    }
}

/// Everything except the held field is up to date, so nothing is written.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_with_held_fields_is_not_up_to_date_from_the_first_reconcile() {
    let labels = json!({"f:operetta.dev/parent-uid": {}, "f:app.kubernetes.io/managed-by": {}});
    let owners = json!({"k:{\"uid\":\"pu\"}": {}});
    let fields = json!({"f:metadata": {"f:labels": labels, "f:ownerReferences": owners}});
    let mut live = child("5", 1);
    live["metadata"]["managedFields"] =
        json!([{"manager": "op", "operation": "Apply", "fieldsV1": fields}]);
    let shown = live.clone();
    let script = move |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => held(".spec.x"),
        "GET" => (200, shown.clone()),
        _ => taken(),
    };
    let config = ChildConfig::apply().with_conflicts(ConflictPolicy::Yield);
    let setup = Setup::new(pods(), config).caching(live).desiring(desired("c"));
    let world = setup.before(script);
    let found = world.reconcile(Memory::default()).await;
    let why = "other field managers own .spec.x (`me`)".to_owned();
    let left = [Decision::stuck("Pod.v1 ns/c", Decided::Held, why)];
    assert_eq!((&found.decisions[..], found.unchanged), (&left[..], 0), "{found:?}");
    let known = world.reconcile(found.memory).await;
    assert_eq!((&known.decisions[..], known.unchanged), (&left[..], 0), "{known:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_shows_the_desired_state_of_held_fields() {
    let script = |asked: &scripted::Asked| match asked.method.as_str() {
        "PATCH" if asked.is_about("/status") => with_status(&asked.body),
        "PATCH" => held(".spec.x"),
        "GET" => (200, child("5", 1)),
        _ => taken(),
    };
    for (policy, expected) in [
        (ConflictPolicy::Report, Some("not written: other field managers own .spec.x (`me`)")),
        (ConflictPolicy::Force, None),
    ] {
        let config = ChildConfig::apply().with_conflicts(policy);
        let setup = Setup::new(pods(), config).caching(child("5", 1)).desiring(desired("c"));
        let world = setup.before(script);
        let memory = world.reconcile(Memory::default()).await.memory;
        let job = scripted::World::job(0, memory.for_preview());
        let preview = preview(&world.context(), job).await.unwrap();
        let steps: Vec<_> = preview.plan.steps.iter().map(|step| step.id().to_string()).collect();
        assert_eq!(steps, ["Pod.v1 ns/c"], "{preview:?}");
        let why = preview.contested.values().map(String::as_str).next();
        assert_eq!(why, expected);
    }
}
