//! The conditions of a parent, as kstatus reads them.

use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::{
    cluster::Request,
    recipe::{self, RECIPE, acting, config_map, recipe},
    world::{CONFIG_MAP, Operators, World, condition, is_ready},
};

async fn started() -> (World, Operators) {
    let world = World::new().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    (world, operators)
}

/// The types of the conditions, sorted.
fn types(parent: &Value) -> Vec<String> {
    let conditions = parent["status"]["conditions"].as_array().into_iter().flatten();
    let mut types: Vec<_> =
        conditions.map(|it| it["type"].as_str().unwrap_or_default().to_owned()).collect();
    types.sort();
    types
}

/// Waits until the parent is not ready and has this condition, both for the same reason.
async fn until_is(world: &World, name: &str, ty: &str, reason: &str) -> Value {
    let is_reported = |parent: &Value| {
        let (ready, other) = (condition(parent, "Ready"), condition(parent, ty));
        let synced = condition(parent, "Synced");
        ready["status"] == "False"
            && other["status"] == "True"
            && other["reason"] == reason
            && ["reason", "message", "observedGeneration"].iter().all(|it| ready[it] == other[it])
            && types(parent).len() == 3
            && ["status", "reason", "message"].iter().all(|it| ready[it] == synced[it])
    };
    world.until(RECIPE, name, &format!("Ready=False and only {ty}: {reason}"), is_reported).await
}

#[operetta_harness::test]
async fn a_failure_that_is_retried_is_reconciling_and_one_that_is_not_is_stalled() {
    let (world, operators) = started().await;
    world.apply(RECIPE, acting("r", "fail")).await;
    until_is(&world, "r", "Reconciling", "HandlerFailed").await;
    world.apply(RECIPE, acting("r", "permanent")).await;
    until_is(&world, "r", "Stalled", "HandlerFailed").await;
    world.apply(RECIPE, recipe("r", &[])).await;
    let ready = world.until_ready(RECIPE, "r").await;
    assert_eq!(types(&ready), ["Ready", "Synced"], "conditions that do not hold are absent");
    operators.stop().await;
}

const LONG_AGO: &str = "2020-01-01T00:00:00Z";

/// Sets old transition times, because times have seconds and a test takes less.
async fn age(world: &World, mut parent: Value) {
    for condition in parent["status"]["conditions"].as_array_mut().unwrap() {
        condition["lastTransitionTime"] = json!(LONG_AGO);
    }
    let patch = json!({"status": {"conditions": parent["status"]["conditions"]}});
    let (name, params) = (parent["metadata"]["name"].as_str().unwrap(), PatchParams::default());
    world.api(RECIPE).patch_status(name, &params, &Patch::Merge(patch)).await.unwrap();
}

#[operetta_harness::test]
async fn the_transition_time_of_a_condition_changes_with_its_status_only() {
    let (world, operators) = started().await;
    let since = |parent: &Value, ty: &str| condition(parent, ty)["lastTransitionTime"].clone();
    world.apply(RECIPE, acting("r", "permanent")).await;
    age(&world, until_is(&world, "r", "Stalled", "HandlerFailed").await).await;
    world.apply(RECIPE, recipe("r", &[json!({"apiVersion": "v1"})])).await;
    let still = until_is(&world, "r", "Stalled", "InvalidChildren").await;
    for ty in ["Synced", "Ready", "Stalled"] {
        assert_eq!(since(&still, ty), LONG_AGO, "{ty} has another reason for the same status");
    }
    world.apply(RECIPE, recipe("r", &[])).await;
    let ready = world.until_ready(RECIPE, "r").await;
    assert_ne!(since(&ready, "Ready"), LONG_AGO, "True, after it was False");
    age(&world, ready).await;
    world.apply(RECIPE, acting("r", "permanent")).await;
    let again = until_is(&world, "r", "Stalled", "HandlerFailed").await;
    assert_ne!(since(&again, "Ready"), LONG_AGO, "False, after it was True");
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_foreign_object_with_the_name_of_a_child_stalls_the_parent_until_it_is_deleted() {
    let (world, operators) = started().await;
    world.create(CONFIG_MAP, config_map("c", json!({"owner": "somebody"}))).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    until_is(&world, "r", "Stalled", "Conflict").await;
    world.delete(CONFIG_MAP, "c").await;
    let ready = world.until_ready(RECIPE, "r").await;
    assert_eq!(types(&ready), ["Ready", "Synced"]);
    operators.stop().await;
}

#[operetta_harness::test]
async fn conditions_of_a_handler_are_merged_with_those_of_the_framework() {
    let (world, operators) = started().await;
    let mut parent = recipe("r", &[]);
    parent["spec"]["status"] = json!({"conditions": [
        {"type": "Tasty", "status": "False", "reason": "Bland", "message": "more salt"},
        {"type": "Stalled", "status": "True", "reason": "Stale", "message": "from long ago"},
    ]});
    world.apply(RECIPE, parent).await;
    let is_reported =
        |parent: &Value| is_ready(parent) && condition(parent, "Tasty")["status"] == "False";
    let ready = world.until(RECIPE, "r", "the handler's condition", is_reported).await;
    assert_eq!(
        types(&ready),
        ["Ready", "Synced", "Tasty"],
        "the framework's own conditions are not overridden"
    );
    assert_eq!(condition(&ready, "Tasty")["observedGeneration"], ready["metadata"]["generation"]);
    assert!(condition(&ready, "Tasty")["lastTransitionTime"].is_string());
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_parent_that_converges_costs_one_write_of_its_status() {
    let world = World::that_logs_requests().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    let before = world.our_requests().await.len();
    let children = [config_map("c", json!({})), config_map("d", json!({}))];
    world.apply(RECIPE, recipe("r", &children)).await;
    world.until_ready(RECIPE, "r").await;
    operators.settled().await;
    let mut writes = world.our_requests().await.split_off(before);
    writes.retain(Request::is_write);
    assert_eq!(writes.len(), children.len() + 1, "the children and one status: {writes:#?}");
    operators.stop().await;
}

#[operetta_harness::test]
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

#[operetta_harness::test]
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

#[operetta_harness::test]
async fn a_field_that_the_handler_no_longer_returns_is_removed_from_the_status() {
    let (world, operators) = started().await;
    let courses = json!([{"dish": "soup", "served": "cold"}]);
    for (status, taste, dishes) in [
        (json!({"taste": "fine", "courses": courses}), json!("fine"), &courses),
        (json!({"courses": courses}), Value::Null, &courses),
        (json!({"taste": "better"}), json!("better"), &Value::Null),
        (json!({}), Value::Null, &Value::Null),
    ] {
        let mut parent = recipe("r", &[]);
        parent["spec"]["status"] = status;
        world.apply(RECIPE, parent).await;
        let ready = world.until_ready(RECIPE, "r").await;
        let shown = &ready["status"];
        assert_eq!((&shown["taste"], &shown["courses"]), (&taste, dishes), "{shown}");
    }
    operators.stop().await;
}

#[operetta_harness::test]
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
