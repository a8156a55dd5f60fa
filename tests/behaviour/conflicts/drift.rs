//! Repaired changes of children by others are counted by manager and shown.

use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, Operators, World, condition, eventually},
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

#[operetta_harness::test(server)]
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
