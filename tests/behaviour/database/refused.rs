//! Bad input: refused by the API server where it can be, otherwise by the operator, and nothing is made.

use kube::api::{Patch, PatchParams};

use super::*;

/// A change of a good Database, and the words with which it is refused.
fn bad() -> Vec<(Value, &'static str)> {
    vec![
        (json!({"version": "9.6"}), "spec.version: Unsupported value: \"9.6\": supported values"),
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
        (
            json!({"mode": "HighAvailability"}),
            "the mode HighAvailability needs at least 3 replicas",
        ),
        (json!({"replicas": 3}), "the mode Standalone has exactly 1 replica"),
        (json!({"replicas": -1}), "spec.replicas in body should be greater than or equal to 1"),
        (json!({"backup": {"schedule": "at noon"}}), "spec.backup.schedule in body should match"),
        (
            json!({"backup": {"schedule": "@daily", "retention": 0}}),
            "spec.backup.retention in body",
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
    let mut spec = with(standalone(), "storage", json!({"size": "2Gi", "class": GROWING}));
    for (name, value) in change.as_object().unwrap() {
        match (spec[name].as_object_mut(), value.as_object()) {
            (Some(old), Some(new)) => old.extend(new.clone()),
            _ => spec[name] = value.clone(),
        }
    }
    spec
}

#[operetta_harness::test]
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

#[operetta_harness::test]
async fn the_api_server_refuses_changes_that_would_lose_data() {
    let world = World::new().await;
    let restored = json!({"restoreFrom": {"database": "old"}});
    world.create(DATABASE, database("good", changed(&restored))).await;
    world.create(DATABASE, database("plain", changed(&json!({})))).await;
    for (name, change, words) in [
        ("good", json!({"storage": {"size": "1Gi"}}), "a volume cannot shrink"),
        ("good", json!({"storage": {"class": "other"}}), "the class of a volume cannot be changed"),
        ("good", json!({"storage": {"class": null}}), "the class of a volume cannot be changed"),
        ("good", json!({"version": "18.1"}), "the major version cannot be changed in place"),
        ("good", json!({"restoreFrom": {"database": "x"}}), "restoreFrom cannot be changed"),
        ("plain", restored, "restoreFrom can be set only when a Database is created"),
    ] {
        let patch = Patch::Merge(json!({"spec": change}));
        let refused = world.api(DATABASE).patch(name, &PatchParams::default(), &patch).await;
        let message = refused.unwrap_err().to_string();
        assert!(message.contains(words), "{change}: {message}");
    }
    let grown = json!({"spec": {"storage": {"size": "3Gi"}, "restoreFrom": null}});
    world.patch(DATABASE, "good", grown).await;
}

async fn until_stalled(tenant: &Tenant, words: &str) {
    let is_stalled = |parent: &Value| {
        let stalled = condition(parent, "Stalled");
        stalled["status"] == "True" && stalled["message"].as_str().unwrap().contains(words)
    };
    tenant.world.until(DATABASE, "main", words, is_stalled).await;
}

async fn assert_nothing_made(tenant: &Tenant) {
    tenant.operators.settled().await;
    for kind in [SECRET, CONFIG_MAP, CLAIM, STATEFUL_SET, SERVICE, JOB] {
        let names = tenant.names(kind).await;
        let made: Vec<_> = names.iter().filter(|name| name.contains("main")).collect();
        assert!(made.is_empty(), "{kind:?}: {made:?}");
    }
}

#[operetta_harness::test]
async fn a_schedule_that_is_never_due_is_stalled_and_nothing_is_made() {
    let tenant = Tenant::start().await;
    let spec = with(standalone(), "backup", json!({"schedule": "0 0 30 2 *"}));
    tenant.world.create(DATABASE, database("main", spec)).await;
    until_stalled(&tenant, "spec.backup.schedule: `0 0 30 2 *` is never due").await;
    assert_nothing_made(&tenant).await;
    tenant.change(json!({"backup": {"schedule": "0 0 28 2 *"}})).await;
    tenant.operators.stop().await;
}

#[operetta_harness::test]
async fn backups_that_do_not_exist_are_not_restored_until_they_do() {
    let tenant = Tenant::start().await;
    let spec = with(standalone(), "restoreFrom", json!({"database": "old"}));
    tenant.world.create(DATABASE, database("main", spec)).await;
    until_stalled(&tenant, "spec.restoreFrom: there are no backups of `old`").await;
    assert_nothing_made(&tenant).await;
    let claim = json!({"metadata": {"name": "old-backups"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": GROWING,
        "resources": {"requests": {"storage": "1Gi"}}}});
    tenant.world.create(CLAIM, claim).await;
    let parent = tenant.ready().await;
    assert_eq!(parent["status"]["restoredFrom"], "old");
    tenant.operators.stop().await;
}
