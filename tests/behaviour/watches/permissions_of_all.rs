//! The generated permissions are sufficient for copies in other namespaces, Deployments of others and data.

use operators::deployment_scaler::{HOURS, NAME};
use operetta::operator::HeldReplicas;
use serde_json::{Value, json};

use super::permissions::{USER, asked, generated, start_with};
use crate::{
    cluster::Request,
    kubelet::{GROWING, Kubelet},
    world::{CONFIG_MAP, DATABASE, DEPLOYMENT, Kind, NAMESPACE, PROPAGATION, STATEFUL_SET, World},
};

const BUDGET: Kind = Kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets");

async fn until_copied(world: &World, namespace: &str, is_right: impl Fn(&Value) -> bool) {
    let copy = || async {
        let copy = world.api_in(CONFIG_MAP, Some(namespace)).get_opt("ca").await.unwrap();
        serde_json::to_value(copy).unwrap()
    };
    crate::world::eventually("the copy", copy, is_right).await;
}

/// Copies are made, changed and removed.
async fn propagate(world: &World) {
    let (target, label) = (format!("{}-a", world.namespace), json!({"propagate": world.namespace}));
    world.create(NAMESPACE, json!({"metadata": {"name": target, "labels": label}})).await;
    let source = json!({"kind": "ConfigMap", "namespace": world.namespace, "name": "ca"});
    let namespaces = json!({"selector": {"matchLabels": label}});
    let spec = json!({"source": source, "namespaces": namespaces});
    world.create(PROPAGATION, json!({"metadata": {"name": world.namespace}, "spec": spec})).await;
    for value in ["one", "two"] {
        world.apply(CONFIG_MAP, json!({"metadata": {"name": "ca"}, "data": {"k": value}})).await;
        until_copied(world, &target, |copy| copy["data"]["k"] == value).await;
    }
    let unselected = json!({"metadata": {"labels": {"propagate": null}}});
    world.patch(NAMESPACE, &target, unselected).await;
    until_copied(world, &target, Value::is_null).await;
    world.delete(PROPAGATION, &world.namespace).await;
}

/// A Deployment opens, closes as its hours go by, and is left.
async fn hold_replicas(world: &World) {
    let (labels, hours) = (json!({"app": "d"}), "Mon-Sun 00:00-24:00 UTC");
    let pods = json!({"containers": [{"name": "c", "image": "example.com/none"}]});
    let body = json!({
        "metadata": {"name": "d", "annotations": {HOURS: hours}},
        "spec": {
            "replicas": 2, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pods},
        },
    });
    world.create(DEPLOYMENT, body).await;
    world.until(BUDGET, "d", "the budget", Value::is_object).await;
    let closed = crate::deployment_scaler::closed();
    for (hours, replicas, record) in [(json!(closed), 0, "held-2-at-0"), (Value::Null, 2, "")] {
        world.patch(DEPLOYMENT, "d", json!({"metadata": {"annotations": {HOURS: hours}}})).await;
        let is_scaled = |it: &Value| {
            let recorded = it["metadata"]["labels"][HeldReplicas::label(NAME)].as_str();
            it["spec"]["replicas"] == replicas && recorded.unwrap_or_default() == record
        };
        world.until(DEPLOYMENT, "d", record, is_scaled).await;
        world.until(BUDGET, "d", "no budget", Value::is_null).await;
    }
}

/// A database with everything grows, and goes with its data.
async fn keep_data(world: &World) {
    let _kubelet = Kubelet::play(world).await;
    let spec = json!({
        "version": "17.6", "mode": "HighAvailability", "replicas": 3, "deletionPolicy": "Delete",
        "storage": {"size": "1Gi", "class": GROWING}, "backup": {"schedule": "@daily"},
        "readReplicas": {"max": 2},
    });
    world.create(DATABASE, json!({"metadata": {"name": "main"}, "spec": spec})).await;
    world.until_ready(DATABASE, "main").await;
    let set = world.get(STATEFUL_SET, "main").await;
    let larger = json!({"spec": {"storage": {"size": "2Gi"}}});
    world.patch(DATABASE, "main", larger).await;
    let is_another =
        |now: &Value| now.is_object() && now["metadata"]["uid"] != set["metadata"]["uid"];
    world.until(STATEFUL_SET, "main", "a new set", is_another).await;
    world.until_ready(DATABASE, "main").await;
    world.patch(DATABASE, "main", json!({"spec": {"readReplicas": null}})).await;
    world.until(STATEFUL_SET, "main-copy", "its end", Value::is_null).await;
    world.delete(DATABASE, "main").await;
    world.until(DATABASE, "main", "its end", Value::is_null).await;
}

#[operetta_harness::test]
async fn the_generated_permissions_are_sufficient_for_every_operator() {
    let (world, config) = World::that_enforces_rbac(USER).await;
    let before = world.cluster.requests().len();
    let operators = start_with(&world, config, &generated()).await;
    propagate(&world).await;
    hold_replicas(&world).await;
    keep_data(&world).await;
    operators.stop().await;
    let asked = asked(&world, before);
    assert!(asked.iter().any(Request::is_write), "the requests are seen");
    let denied: Vec<_> = asked.iter().filter(|request| request.code == 403).collect();
    assert!(denied.is_empty(), "{denied:#?}");
}
