//! Bad input: refused by the API server where it can be, otherwise by the operator, and nothing is made.

use kube::api::{Patch, PatchParams};

use super::*;

/// A change of a good Database, and the words with which it is refused.
fn bad() -> Vec<(Value, &'static str)> {
    vec![
        (
            json!({"version": {"major": 9, "minor": 6}}),
            "spec.version.major: Unsupported value: 9: supported values: \"16\", \"17\", \"18\"",
        ),
        (
            json!({"version": {"major": 17, "minor": 99}}),
            "this version is not known: use 16.10, 16.11, 17.6, 17.7, 18.0 or 18.1",
        ),
        (
            json!({"storage": {"size": "-5Gi"}}),
            "size must be a quantity of at least 1Gi, such as 10Gi",
        ),
        (
            json!({"storage": {"size": "10"}}),
            "size must be a quantity of at least 1Gi, such as 10Gi",
        ),
        (
            json!({"storage": {"size": "much"}}),
            "size must be a quantity of at least 1Gi, such as 10Gi",
        ),
        (json!({"replicas": 2}), "replicas must be 1, or at least 3"),
        (json!({"replicas": -1}), "spec.replicas in body should be greater than or equal to 1"),
        (json!({"backup": {"schedule": "at noon"}}), "spec.backup.schedule in body should match"),
        (
            json!({"backup": {"schedule": "@daily", "retention": 0}}),
            "spec.backup.retention in body",
        ),
        (
            json!({"backup": {"schedule": "@daily", "size": "1"}}),
            "size must be a quantity of at least 1Gi, such as 10Gi",
        ),
        (json!({"readReplicas": {"min": 3, "max": 2}}), "min must not be greater than max"),
        (json!({"resources": {"limits": {"cpu": "-1"}}}), "spec.resources.limits.cpu in body"),
        (
            json!({"restoreFrom": {"database": "Old One"}}),
            "spec.restoreFrom.database in body should match",
        ),
        (json!({"deletionPolicy": "Maybe"}), "spec.deletionPolicy: Unsupported value: \"Maybe\""),
    ]
}

fn changed(change: &Value) -> Value {
    let mut spec =
        with(standalone(), "storage", json!({"size": "2Gi", "storageClassName": GROWING}));
    for (name, value) in change.as_object().unwrap() {
        match (spec[name].as_object_mut(), value.as_object()) {
            (Some(old), Some(new)) => old.extend(new.clone()),
            _ => spec[name] = value.clone(),
        }
    }
    spec
}

#[operetta_harness::test(server)]
async fn the_api_server_refuses_what_cannot_work_with_a_sentence() {
    let world = World::new().await;
    for (change, words) in bad() {
        let refused = world.try_create(DATABASE, database("bad", changed(&change))).await;
        let message = refused.unwrap_err().to_string();
        assert!(message.contains(words), "{change}: {message}");
    }
    for name in ["1st", "a.b", &"a".repeat(41)] {
        let refused = world.try_create(DATABASE, database(name, changed(&json!({})))).await;
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("the name must be a DNS label of at most 40"), "{message}");
    }
}

#[operetta_harness::test(server)]
async fn the_api_server_refuses_changes_that_would_lose_data() {
    let world = World::new().await;
    let restored = json!({"restoreFrom": {"database": "old"}, "backup": {"schedule": "@daily"}});
    world.create(DATABASE, database("good", changed(&restored))).await;
    world.create(DATABASE, database("plain", changed(&json!({})))).await;
    for (name, change, words) in [
        ("good", json!({"storage": {"size": "1Gi"}}), "a volume cannot shrink"),
        (
            "good",
            json!({"storage": {"storageClassName": "other"}}),
            "storageClassName cannot be changed",
        ),
        (
            "good",
            json!({"storage": {"storageClassName": null}}),
            "storageClassName cannot be changed",
        ),
        (
            "good",
            json!({"version": {"major": 18, "minor": 1}}),
            "the major version cannot be changed in place",
        ),
        ("good", json!({"backup": {"size": "1Gi"}}), "the volume of the backups cannot shrink"),
        ("good", json!({"restoreFrom": {"database": "x"}}), "restoreFrom cannot be changed"),
        (
            "plain",
            json!({"restoreFrom": {"database": "old"}}),
            "restoreFrom can be set only when a Database is created",
        ),
    ] {
        let patch = Patch::Merge(json!({"spec": change}));
        let refused = world.api(DATABASE).patch(name, &PatchParams::default(), &patch).await;
        let message = refused.unwrap_err().to_string();
        assert!(message.contains(words), "{change}: {message}");
    }
    let grown = json!({"spec": {"storage": {"size": "3Gi"}, "restoreFrom": null}});
    world.patch(DATABASE, "good", grown).await;
}
