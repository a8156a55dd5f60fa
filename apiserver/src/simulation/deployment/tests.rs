use serde_json::{Value, json};

use super::{decide, rollout, sets::Sets, strategy::Strategy};
use crate::simulation::decision::{Decision, Write};

fn now() -> jiff::Timestamp {
    "2026-01-01T00:10:00Z".parse().unwrap()
}

fn template(image: &str) -> Value {
    json!({
        "metadata": { "labels": { "app": "web" } },
        "spec": { "containers": [{ "name": "main", "image": image }] },
    })
}

fn deployment(replicas: i64, surge: &Value, unavailable: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": "web", "namespace": "default", "uid": "d", "generation": 1 },
        "spec": {
            "replicas": replicas,
            "progressDeadlineSeconds": 600,
            "selector": { "matchLabels": { "app": "web" } },
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": { "maxSurge": surge, "maxUnavailable": unavailable },
            },
            "template": template("image:2"),
        },
    })
}

/// A set with so many replicas, of which so many are available.
fn set(name: &str, image: &str, replicas: i64, available: i64) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": name, "namespace": "default", "uid": name,
            "labels": { "app": "web" },
            "annotations": { "deployment.kubernetes.io/revision": name },
            "ownerReferences": [{ "kind": "Deployment", "name": "web", "uid": "d", "controller": true }],
        },
        "spec": { "replicas": replicas, "template": template(image) },
        "status": { "replicas": replicas, "availableReplicas": available, "readyReplicas": available },
    })
}

/// The sizes that old and new set have after a step.
fn step(deployment: &Value, old: (i64, i64), new: (i64, i64)) -> (i64, i64) {
    let (old, new) = (set("1", "image:1", old.0, old.1), set("2", "image:2", new.0, new.1));
    let sets = Sets::of(deployment, &[&old, &new]);
    let mut sizes =
        (old["spec"]["replicas"].as_i64().unwrap(), new["spec"]["replicas"].as_i64().unwrap());
    for (set, size) in rollout::step(deployment, &sets, Strategy::of(deployment), &[]) {
        match set["metadata"]["name"].as_str() {
            Some("1") => sizes.0 = size,
            _ => sizes.1 = size,
        }
    }
    sizes
}

#[test]
fn a_rolling_update_stays_within_surge_and_unavailability() {
    // Surge and unavailability; replicas and available ones of the old and the new set; the sizes that follow.
    for (surge, unavailable, old, new, expected) in [
        (json!(1), json!(0), (3, 3), (0, 0), (3, 1)),
        (json!(1), json!(0), (3, 3), (1, 0), (3, 1)),
        (json!(1), json!(0), (3, 3), (1, 1), (2, 1)),
        (json!(1), json!(0), (2, 2), (1, 1), (2, 2)),
        (json!(0), json!(1), (3, 3), (0, 0), (2, 0)),
        (json!(0), json!(1), (2, 2), (0, 0), (2, 1)),
        (json!(0), json!(1), (2, 2), (1, 0), (2, 1)),
        (json!("100%"), json!("100%"), (3, 3), (0, 0), (3, 3)),
        (json!("100%"), json!("100%"), (3, 3), (3, 0), (0, 3)),
        // Old Pods that are not available make room first.
        (json!(1), json!(0), (3, 2), (1, 1), (2, 1)),
        // With neither, one may be unavailable.
        (json!(0), json!(0), (3, 3), (0, 0), (2, 0)),
    ] {
        let deployment = deployment(3, &surge, &unavailable);
        let found = step(&deployment, old, new);
        assert_eq!(found, expected, "surge {surge}, unavailable {unavailable}, {old:?} {new:?}");
    }
}

#[test]
fn the_replicas_follow_the_deployment() {
    let scaled = |replicas, new| step(&deployment(replicas, &json!(1), &json!(0)), (0, 0), new);
    assert_eq!(scaled(5, (3, 3)), (0, 5));
    assert_eq!(scaled(1, (3, 3)), (0, 1));
    assert_eq!(scaled(3, (3, 3)), (0, 3));
}

#[test]
fn a_paused_deployment_makes_no_set() {
    let mut deployment = deployment(3, &json!(1), &json!(0));
    deployment["spec"]["paused"] = json!(true);
    let sets = [set("1", "image:1", 3, 3)];
    let Decision { writes, again } = decide(&deployment, &sets, &[], now());
    assert!(writes.iter().all(|write| matches!(write, Write::Status(..))), "{writes:?}");
    assert_eq!(again, None);
}

#[test]
fn a_new_template_gets_the_next_revision() {
    let sets = [set("7", "image:1", 3, 3)];
    let Decision { writes, .. } = decide(&deployment(3, &json!(1), &json!(0)), &sets, &[], now());
    let created = writes.iter().find_map(|write| match write {
        Write::Create(set) => Some(set),
        _ => None,
    });
    let annotations = &created.unwrap()["metadata"]["annotations"];
    assert_eq!(annotations["deployment.kubernetes.io/revision"], "8");
    assert_eq!(annotations["deployment.kubernetes.io/max-replicas"], "4");
}

#[test]
fn a_rollout_without_progress_is_overdue_at_its_deadline() {
    let mut deployment = deployment(1, &json!(1), &json!(0));
    let sets = [set("2", "image:2", 1, 0)];
    let progressing = |time: &str| {
        json!([{
            "type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated",
            "lastUpdateTime": time, "lastTransitionTime": time,
        }])
    };
    deployment["status"] = json!({ "replicas": 1, "updatedReplicas": 1 });
    deployment["status"]["conditions"] = progressing("2026-01-01T00:05:00Z");
    let waits = decide(&deployment, &sets, &[], now());
    assert_eq!(waits.again, Some("2026-01-01T00:15:00Z".parse().unwrap()));
    deployment["status"]["conditions"] = progressing("2026-01-01T00:00:00Z");
    let overdue = decide(&deployment, &sets, &[], now());
    let reason = overdue.writes.iter().find_map(|write| match write {
        Write::Status(_, status, _) => Some(status["conditions"][0]["reason"].clone()),
        _ => None,
    });
    assert_eq!(reason, Some(json!("ProgressDeadlineExceeded")));
}
