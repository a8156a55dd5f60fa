//! What cannot be read, whatever happens to it, is refused by name; other parents are untouched.

use super::*;
use crate::{reported::ExpectedFailure, world::condition};

#[operetta_harness::test]
async fn a_rule_that_cannot_work_is_refused_with_operator_and_type() {
    let world = World::new().await;
    let operators = world.start(register).await;
    let failure = ExpectedFailure::before(&world, &operators, READER, "InvalidRelated").await;
    world.apply(RECIPE, reading("undeclared", json!({"others": ["x"]}))).await;
    world.apply(RECIPE, reading("selector", json!({"labels": ["tier=gold,"]}))).await;
    world.apply(RECIPE, reading("good", json!({"secrets": ["ca"]}))).await;
    for (parent, words) in [
        ("undeclared", "LimitRange.v1 are named, and operator `reader` does not declare that type"),
        ("selector", "ConfigMap.v1: `tier=gold,` is not a label selector"),
    ] {
        failure.until_reported(parent, words).await;
    }
    until_seen(&world, "good", "").await;
    world.apply(RECIPE, reading("selector", json!({"labels": ["tier=gold"]}))).await;
    until_seen(&world, "selector", "").await;
    world.until_synced(RECIPE, "selector").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_function_that_panics_fails_its_parent_only() {
    let world = World::new().await;
    let operators = world.start(register).await;
    world.apply(RECIPE, reading("bad", json!({"act": "panic-related"}))).await;
    world.apply(RECIPE, reading("good", json!({}))).await;
    let is_reported = |parent: &Value| condition(parent, "Ready")["reason"] == "HandlerPanicked";
    let parent = world.until(RECIPE, "bad", "the panic", is_reported).await;
    assert!(condition(&parent, "Ready")["message"].to_string().contains("the shelf breaks"));
    until_seen(&world, "good", "").await;
    operators.stop().await;
}

/// An operator without related types does not call the function before each reconcile.
#[operetta_harness::test]
async fn objects_that_an_operator_without_related_types_names_are_refused() {
    struct Hidden;
    impl Handler for Hidden {
        type Parent = Object;
        type Response = SyncResponse;

        fn sync(&self, _: &SyncRequest) -> Result<SyncResponse> {
            Ok(SyncResponse::new())
        }

        fn related(&self, parent: &Object) -> Related {
            related(parent)
        }
    }
    let world = World::new().await;
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new(READER, parent);
    let operators = world.start(|builder| builder.register(config, Hidden)).await;
    world.apply(RECIPE, reading("bad", json!({"secrets": ["ca"]}))).await;
    world.apply(RECIPE, reading("good", json!({}))).await;
    let is_reported = |parent: &Value| {
        let message = condition(parent, "Ready")["message"].to_string();
        message.contains("Secret.v1, and the operator does not declare that type")
    };
    world.until(RECIPE, "bad", "the refusal", is_reported).await;
    world.until_synced(RECIPE, "good").await;
    operators.stop().await;
}
