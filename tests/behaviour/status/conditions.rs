//! The conditions of a parent, as kstatus reads them.

use serde_json::{Value, json};

use crate::{
    cluster::Request,
    recipe::{self, RECIPE, acting, config_map, recipe},
    world::{Operators, World, condition},
};

async fn started() -> (World, Operators) {
    let world = World::new().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    (world, operators)
}

#[operetta_harness::test(server)]
async fn a_status_with_defaults_of_the_server_is_written_once() {
    let world = World::that_logs_requests().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    let mut parent = recipe("r", &[]);
    parent["spec"]["status"] = json!({"courses": [{"dish": "soup"}]});
    world.apply(RECIPE, parent).await;
    let ready = world.until_ready(RECIPE, "r").await;
    assert_eq!(ready["status"]["courses"], json!([{"dish": "soup", "served": "hot"}]));
    operators.settled().await;
    let before = world.our_requests().await.len();
    let reconciles = operators.reconciles("cook", &world.namespace, "r");
    world.patch(RECIPE, "r", json!({"metadata": {"labels": {"seen": "again"}}})).await;
    operators.settled().await;
    assert!(operators.reconciles("cook", &world.namespace, "r") > reconciles);
    let mut writes = world.our_requests().await.split_off(before);
    writes.retain(Request::is_write);
    assert_eq!(writes, [], "there is nothing to write");
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn the_observed_generation_follows_the_spec_through_failures_and_back() {
    let (world, operators) = started().await;
    for (parent, ready) in [
        (recipe("r", &[config_map("c", json!({}))]), "True"),
        (acting("r", "fail"), "False"),
        (acting("r", "permanent"), "False"),
        (recipe("r", &[json!({"apiVersion": "v1"})]), "False"),
        (recipe("r", &[]), "True"),
    ] {
        let applied = world.apply(RECIPE, parent).await;
        let generation = &applied["metadata"]["generation"];
        let is_seen = |parent: &Value| parent["status"]["observedGeneration"] == *generation;
        let seen = world.until(RECIPE, "r", "this generation in the status", is_seen).await;
        let condition = condition(&seen, "Ready");
        let found = (&condition["status"], &condition["observedGeneration"]);
        assert_eq!(found, (&json!(ready), generation), "{condition}");
    }
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_status_is_written_if_only_the_root_of_the_schema_preserves_it() {
    let world = World::new().await;
    world.install_recipes_with_open_root().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    let mut parent = recipe("r", &[config_map("c", json!({}))]);
    parent["spec"]["status"] = json!({"taste": "fine"});
    world.apply(RECIPE, parent).await;
    let is_reported = |parent: &Value| condition(parent, "Ready")["status"] == "True";
    let parent = world.until(RECIPE, "r", "Ready", is_reported).await;
    assert_eq!(parent["status"]["taste"], "fine");
    operators.stop().await;
}
