//! Fields that others take while a child is written that leaves others theirs.

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
async fn what_others_take_between_two_tries_is_left_to_them_too() {
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
    let report = world.run(Memory::default()).await;
    let applies = world.asked("PATCH").into_iter().filter(|asked| asked.is_about("/pods/c"));
    let applies: Vec<_> = applies.collect();
    assert!(!applies.iter().any(|asked| asked.is_about("force=true")), "{applies:#?}");
    let specs: Vec<_> = applies.iter().map(|asked| asked.body["spec"].clone()).collect();
    assert_eq!(specs, [json!({"x": 2, "y": 2, "z": 2}), json!({"y": 2, "z": 2}), json!({"z": 2})]);
    // Who holds what may be another matter at the next version.
    let proofs = applies.iter().map(|asked| asked.body["metadata"]["resourceVersion"].clone());
    assert_eq!(proofs.skip(1).collect::<Vec<_>>(), ["8", "8"]);
    assert_eq!(report.held, ["Pod.v1 ns/c: other field managers own .spec.x (`me`), .spec.y (`me`)"]);
}

fn managed_by(mut child: Value, managers: &[&str]) -> Value {
    let entry = |manager: &&str| {
        let spec = json!({"f:spec": {"f:x": {}}});
        json!({"manager": manager, "operation": "Apply", "fieldsV1": spec})
    };
    child["metadata"]["managedFields"] = managers.iter().map(entry).collect();
    child
}

/// Else it would be taken only when the object changes once more.
#[tokio::test(flavor = "multi_thread")]
async fn what_others_let_go_of_before_it_is_looked_at_is_not_left_to_them() {
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
        let report = world.run(Memory::default()).await;
        let applies = world.asked("PATCH").into_iter().filter(of_child);
        let applies: Vec<_> = applies.collect();
        assert!(applies.len() == 2 && applies.iter().all(|it| it.body["spec"]["x"] == 2));
        assert!(!applies.iter().any(|asked| asked.is_about("force=true")), "{applies:#?}");
        assert!(report.writes.len() == 1 && report.held.is_empty(), "{report:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_to_others_is_told_when_it_changes_and_not_with_each_reconcile() {
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
        memory = world.run(memory).await.memory;
    }
    field.store(1, Ordering::Release);
    memory.forget_last_applied();
    world.run(memory).await;
    let notes = || world.asked("POST").into_iter().map(|it| it.body["note"].to_string());
    world.until(|| notes().any(|note| note.contains(".spec.y"))).await;
    assert_eq!(notes().count(), 2);
    assert!(
        !world.asked("PATCH").iter().any(|it| it.is_about("/events")),
        "nothing was counted up"
    );
}

/// What is left to others was not written, and nobody has changed it back.
#[tokio::test(flavor = "multi_thread")]
async fn single_repairs_beside_a_field_of_others_are_no_fight() {
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
    let mut memory = world.run(Memory::default()).await.memory;
    for field in ["a", "b", "c", "d"] {
        let mut spec = wanted_spec.clone();
        spec["x"] = json!(1);
        spec[field] = json!("theirs");
        let changed = at(held_by_others(1, spec));
        now.lock().unwrap().clone_from(&changed);
        world.changed(&changed);
        let report = world.run(memory).await;
        assert_eq!(report.writes.len(), 1, "{field}: {report:?}");
        let drifted: Vec<_> = report.writes.iter().flat_map(|it| it.paths.clone()).collect();
        assert_eq!(drifted, [format!(".spec.{field}")]);
        memory = report.memory;
        assert!(memory.flapping().condition().is_none(), "after {field}");
    }
}

/// All but what others hold is there already, so that nothing is written.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_to_others_is_no_child_as_desired_from_the_reconcile_that_finds_it() {
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
    let found = world.run(Memory::default()).await;
    let why = "other field managers own .spec.x (`me`)".to_owned();
    let left = [Decision::stuck("Pod.v1 ns/c", Decided::Held, why)];
    assert_eq!((&found.decisions[..], found.unchanged), (&left[..], 0), "{found:?}");
    let known = world.run(found.memory).await;
    assert_eq!((&known.decisions[..], known.unchanged), (&left[..], 0), "{known:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_keep_from_being_written_is_shown_as_it_is_desired_to_who_asks() {
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
        let memory = world.run(Memory::default()).await.memory;
        let (context, key) = (world.context(), ObjectKey::namespaced("ns", "p"));
        let preview = context.preview(&key, &Uid::new("pu"), memory.remembered()).await.unwrap();
        let steps: Vec<_> = preview.plan.steps.iter().map(|step| step.id().to_string()).collect();
        assert_eq!(steps, ["Pod.v1 ns/c"], "{preview:?}");
        let why = preview.contested.values().map(String::as_str).next();
        assert_eq!(why, expected);
    }
}
