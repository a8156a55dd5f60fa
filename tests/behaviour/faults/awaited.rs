//! A parent that failed because of an object reconciles at once when just that object changes or goes.

use std::time::Duration;

use operetta::prelude::*;

use super::*;
use crate::recipe::{config_map, recipe};

/// Never tried again by itself while the test lasts.
fn patient() -> OperatorConfig {
    let hour = Duration::from_hours(1);
    recipe::config("cook").with_error_backoff(hour, hour)
}

/// The reasons of the reconciles of a parent, the newest first.
async fn causes(operators: &Operators, namespace: &str, name: &str) -> Vec<String> {
    let path = format!("/api/v1/operators/cook/parents/{namespace}/{name}");
    let parent: Value = serde_json::from_str(&operators.http(&path).await.1).unwrap();
    let history = parent["history"].as_array().unwrap().iter();
    let causes = history.flat_map(|reconcile| reconcile["causes"].as_array().unwrap().clone());
    causes.map(|cause| cause["reason"].as_str().unwrap().to_owned()).collect()
}

#[operetta_harness::test]
async fn an_object_of_another_parent_that_goes_is_noticed_at_once() {
    let world = World::new().await;
    let operators = world.start(|builder| builder.register(patient(), recipe::handler())).await;
    world.apply(RECIPE, recipe("first", &[config_map("c", json!({}))])).await;
    world.until_ready(RECIPE, "first").await;
    world.apply(RECIPE, recipe("second", &[config_map("c", json!({}))])).await;
    let is_refused = |parent: &Value| condition(parent, "Ready")["reason"] == "Conflict";
    world.until(RECIPE, "second", "the conflict", is_refused).await;
    operators.until_reconciles("cook", &world.namespace, "second", 1).await;
    world.apply(RECIPE, recipe("first", &[])).await;
    world.until_ready(RECIPE, "second").await;
    // The status is written before the reconcile is in the history.
    operators.until_synced("cook", &world.namespace, "second").await;
    let causes = causes(&operators, &world.namespace, "second").await;
    assert!(causes.contains(&"ChildDeleted".to_owned()), "{causes:?}");
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_refused_child_that_somebody_changes_is_written_at_once() {
    let register = |builder: SupervisorBuilder| builder.register(patient(), recipe::handler());
    let faults = Faults::start_as(FaultPlan::new(), register).await;
    let (world, operators) = (&faults.world, &faults.operators);
    let children = |salt: &str| ["c", "d"].map(|name| config_map(name, json!({"salt": salt})));
    world.apply(RECIPE, recipe("r", &children("little"))).await;
    world.until_ready(RECIPE, "r").await;
    let refused =
        faults.add(Rule::new(Fault::refuse(422)).verb("patch").resource("configmaps").name("c"));
    world.apply(RECIPE, recipe("r", &children("much"))).await;
    until_hits(&refused, 1).await;
    faults.until_warned("r", "422").await;
    refused.end();
    world.patch(CONFIG_MAP, "c", json!({"data": {"oil": "some"}})).await;
    let is_written = |child: &Value| child["data"]["salt"] == "much";
    world.until(CONFIG_MAP, "c", "the write", is_written).await;
    faults.until_settled("r").await;
    let causes = causes(operators, &world.namespace, "r").await;
    assert!(!causes.contains(&"Retry".to_owned()), "{causes:?}");
    faults.end().await;
}
