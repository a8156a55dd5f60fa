//! Repaired changes of children by others are counted by manager and shown.

use k8s_openapi::api::networking::v1::NetworkPolicy;
use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    started::counts,
    world::{CONFIG_MAP, Kind, Operators, World, condition, eventually},
};

async fn started() -> (World, Operators) {
    let world = World::new().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler())).await;
    let child = config_map("c", json!({"salt": "much", "pepper": "little"}));
    world.apply(RECIPE, recipe("r", &[child])).await;
    world.until_ready(RECIPE, "r").await;
    operators.settled().await;
    (world, operators)
}

/// The writes in the history of the parent, of the newest reconcile first.
async fn writes(world: &World, operators: &Operators) -> Vec<Value> {
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    let parent: Value = serde_json::from_str(&operators.http(&path).await.1).unwrap();
    let reconciles = parent["history"].as_array().unwrap().clone();
    reconciles
        .iter()
        .flat_map(|reconcile| reconcile["decisions"].as_array().unwrap().clone())
        .collect()
}

#[operetta_harness::test]
async fn repaired_fields_are_counted_by_manager_and_shown_with_both_versions() {
    let (world, operators) = started().await;
    let before = world.get(CONFIG_MAP, "c").await;
    let salted = json!({"data": {"salt": "none", "pepper": "none", "oil": "some"}});
    let changed = world.patch(CONFIG_MAP, "c", salted).await;
    let is_repaired = |child: &Value| child["data"]["salt"] == "much";
    world.until(CONFIG_MAP, "c", "the repair", is_repaired).await;
    let drifted = |writes: &Vec<Value>| writes.iter().any(|write| !write["drift"].is_null());
    let shown = eventually("the drift", || writes(&world, &operators), drifted).await;
    let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
    let expected = json!({
        "child": format!("ConfigMap.v1 {}/c", world.namespace), "decision": "Updated",
        "paths": [".data.pepper", ".data.salt"],
        "drift": {"manager": "by-hand", "from": version(&before), "to": version(&changed)},
    });
    assert_eq!(shown[0], expected);
    let labels = r#"manager="by-hand",operator="cook",type="configmaps""#;
    let line = format!("\noperetta_drift_repaired_total{{{labels}}} 2\n");
    let (_, metrics) = operators.http("/metrics").await;
    assert!(metrics.contains(&line), "{metrics}");
    operators.settled().await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert!(condition(&parent, "Flapping").is_null());
    operators.stop().await;
}

/// An empty selector matches all pods.
#[operetta_harness::test]
async fn a_narrowed_empty_selector_is_repaired() {
    const NETWORK_POLICY: Kind = Kind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies");
    let world = World::new().await;
    let config = recipe::config("cook").child::<NetworkPolicy>(ChildConfig::apply());
    let operators = world.start(|builder| builder.register(config, recipe::handler())).await;
    let nothing_in = json!({
        "apiVersion": NETWORK_POLICY.0, "kind": NETWORK_POLICY.1, "metadata": {"name": "n"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
    });
    world.apply(RECIPE, recipe("r", &[nothing_in])).await;
    world.until_ready(RECIPE, "r").await;
    let narrow = json!({"spec": {"podSelector": {"matchLabels": {"app": "none"}}}});
    world.patch(NETWORK_POLICY, "n", narrow).await;
    let is_repaired = |child: &Value| child["spec"]["podSelector"] == json!({});
    world.until(NETWORK_POLICY, "n", "all pods again", is_repaired).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_deleted_child_is_reported_as_drift_of_the_whole_object() {
    let (world, operators) = started().await;
    let before = world.get(CONFIG_MAP, "c").await;
    world.delete(CONFIG_MAP, "c").await;
    let is_new =
        |child: &Value| child.is_object() && child["metadata"]["uid"] != before["metadata"]["uid"];
    world.until(CONFIG_MAP, "c", "the child again", is_new).await;
    let drifted = |writes: &Vec<Value>| writes.iter().any(|write| !write["drift"].is_null());
    let shown = eventually("the drift", || writes(&world, &operators), drifted).await;
    assert_eq!(shown[0]["decision"], "Created");
    assert_eq!(shown[0]["drift"], json!({"from": before["metadata"]["resourceVersion"]}));
    operators.stop().await;
}

#[operetta_harness::test]
async fn what_others_own_of_a_child_and_what_its_parent_changes_is_no_drift() {
    let (world, operators) = started().await;
    let theirs = json!({"metadata": {"labels": {"theirs": "x"}}, "data": {"oil": "some"}});
    let changed = world.patch(CONFIG_MAP, "c", theirs).await;
    operators.settled().await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, changed, "not modified");
    for salt in ["a", "b", "c", "d"] {
        world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": salt}))])).await;
        world.until_ready(RECIPE, "r").await;
    }
    operators.settled().await;
    assert!(writes(&world, &operators).await.iter().all(|write| write["drift"].is_null()));
    let (_, metrics) = operators.http("/metrics").await;
    assert!(!metrics.contains("operetta_drift_repaired_total{"), "{metrics}");
    assert!(!counts(&metrics, "operetta_flapping_total{"), "{metrics}");
    operators.stop().await;
}
