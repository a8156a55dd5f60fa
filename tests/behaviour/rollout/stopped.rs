//! A rollout that stops: for a child that has failed, and for a pause.

use super::*;
use crate::reported::ExpectedFailure;

#[operetta_harness::test]
async fn a_rollout_stops_when_a_child_has_failed_and_continues_when_it_has_recovered() {
    let world = World::new().await;
    let two = ChildConfig::apply().rolling(Rolling::max_unavailable(2));
    let operators = started(&world, two).await;
    let failure = ExpectedFailure::before(&world, &operators, "cook", "RolloutStopped").await;
    want(&world, "2").await;
    until_at(&world, "a", "2").await;
    until_at(&world, "b", "2").await;
    note(&world, "a", "failed").await;
    failure.until_reported("r", "it is broken").await;
    note(&world, "b", "2").await;
    let is_stopped = |parent: &Value| condition(parent, "Progressing")["status"] == "False";
    world.until(RECIPE, "r", "that it does not progress", is_stopped).await;
    assert_eq!(values(&world).await, ["2", "2", "1"]);
    note(&world, "a", "2").await;
    roll_out(&world, &["c"], "2").await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_new_spec_replaces_one_that_has_failed() {
    let world = World::new().await;
    let operators = started(&world, applied()).await;
    want(&world, "2").await;
    until_at(&world, "a", "2").await;
    note(&world, "a", "failed").await;
    let is_stopped = |parent: &Value| condition(parent, "Progressing")["status"] == "False";
    world.until(RECIPE, "r", "that it does not progress", is_stopped).await;
    want(&world, "3").await;
    roll_out(&world, &NAMES, "3").await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_pause_of_the_parent_stops_a_rollout() {
    let world = World::new().await;
    let operators = started(&world, applied()).await;
    want(&world, "2").await;
    until_at(&world, "a", "2").await;
    let paused =
        |value: Value| json!({"metadata": {"annotations": {"operetta.dev/paused": value}}});
    world.patch(RECIPE, "r", paused(json!("true"))).await;
    let is_paused = |parent: &Value| condition(parent, "Paused")["status"] == "True";
    world.until(RECIPE, "r", "that it is paused", is_paused).await;
    note(&world, "a", "2").await;
    operators.settled().await;
    assert_eq!(values(&world).await, ["2", "1", "1"]);
    world.patch(RECIPE, "r", paused(Value::Null)).await;
    roll_out(&world, &["b", "c"], "2").await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_rollout_of_none_is_refused_when_it_is_registered() {
    let none = ChildConfig::apply().rolling(Rolling::max_unavailable(0));
    let refused = config(none).validate().unwrap_err().to_string();
    assert!(refused.contains("cook") && refused.contains("ConfigMap"), "{refused}");
}
