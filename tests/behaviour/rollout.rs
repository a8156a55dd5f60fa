//! Changes of children that are rolled out a few at a time. A child is ready when somebody has noted its value
//! beside it, as a controller would.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use operetta::{object::Readiness, operator::Rolling, prelude::*, supervisor::SupervisorBuilder};
use serde_json::{Value, json};

use crate::{
    killed::killed_at_patch,
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, Operators, World, condition},
};

const NAMES: [&str; 3] = ["a", "b", "c"];

fn config(children: ChildConfig) -> OperatorConfig {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    OperatorConfig::new("cook", parent)
        .child::<ConfigMap>(children)
        .ready_when(readiness)
        .with_error_backoff(Duration::from_millis(100), Duration::from_secs(1))
}

fn readiness(child: &ConfigMap) -> Readiness {
    let value = |name: &str| child.data.as_ref()?.get(name);
    match value("noted").map(String::as_str) {
        Some("failed") => Readiness::failed("it is broken"),
        noted if noted == value("x").map(String::as_str) => Readiness::ready(),
        _ => Readiness::progressing("its value is not noted"),
    }
}

/// One child at a time is changed by an apply.
fn applied() -> ChildConfig {
    ChildConfig::apply().rolling(Rolling::max_unavailable(1))
}

fn register(children: ChildConfig) -> impl FnOnce(SupervisorBuilder) -> SupervisorBuilder {
    move |builder| builder.register(config(children), recipe::handler())
}

/// Starts the operator of the parent `r`, whose children are all at 1 and ready.
async fn started(world: &World, children: ChildConfig) -> Operators {
    let operators = world.start(register(children)).await;
    want(world, "1").await;
    for name in NAMES {
        world.until(CONFIG_MAP, name, "that it is created", Value::is_object).await;
        note(world, name, "1").await;
    }
    world.until_ready(RECIPE, "r").await;
    operators
}

/// The handler returns all children with this value.
async fn want(world: &World, x: &str) {
    let children = NAMES.map(|name| config_map(name, json!({"x": x})));
    world.apply(RECIPE, recipe("r", &children)).await;
}

/// A controller notes a value beside a child.
async fn note(world: &World, name: &str, noted: &str) {
    world.patch(CONFIG_MAP, name, json!({"data": {"noted": noted}})).await;
}

/// Waits until a child has a value.
async fn until_at(world: &World, name: &str, x: &str) {
    let is_it = |child: &Value| child["data"]["x"] == x;
    world.until(CONFIG_MAP, name, &format!("{name} at {x}"), is_it).await;
}

/// Waits until the parent shows for its present generation that the changes of children wait, with these words.
async fn until_waiting(world: &World, words: &str) {
    let is_it = |parent: &Value| {
        let synced = condition(parent, "Synced");
        synced["status"] == "False"
            && synced["observedGeneration"] == parent["metadata"]["generation"]
            && synced["message"].as_str().is_some_and(|message| message.contains(words))
    };
    world.until(RECIPE, "r", words, is_it).await;
}

/// The values of the children; null for one that does not exist.
async fn values(world: &World) -> Vec<Value> {
    let mut values = Vec::new();
    for name in NAMES {
        values.push(world.get(CONFIG_MAP, name).await["data"]["x"].clone());
    }
    values
}

#[operetta_harness::test]
async fn the_next_child_is_changed_when_the_last_one_is_ready() {
    let world = World::new().await;
    let operators = started(&world, applied()).await;
    want(&world, "2").await;
    for (at, name) in NAMES.into_iter().enumerate() {
        until_at(&world, name, "2").await;
        if name != "c" {
            until_waiting(&world, &format!("/{name}: its value is not noted")).await;
        }
        let expected: Vec<_> = (0..3).map(|nth| json!(if nth > at { "1" } else { "2" })).collect();
        assert_eq!(values(&world).await, expected);
        note(&world, name, "2").await;
    }
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(condition(&parent, "Updated")["status"], "True", "{parent}");
    operators.stop().await;
}

/// Each change takes effect, and its reply is not read.
#[operetta_harness::test]
async fn a_process_that_is_killed_at_any_change_is_continued_by_the_next() {
    let world = World::new().await;
    started(&world, applied()).await.stop().await;
    want(&world, "2").await;
    for (at, name) in NAMES.into_iter().enumerate() {
        killed_at_patch(&world, (CONFIG_MAP.2, name), register(applied())).await;
        until_at(&world, name, "2").await;
        let operators = world.start(register(applied())).await;
        let waits = format!("/{name}: its value is not noted");
        if name != "c" {
            until_waiting(&world, &waits).await;
        }
        let expected: Vec<_> = (0..3).map(|nth| json!(if nth > at { "1" } else { "2" })).collect();
        assert_eq!(values(&world).await, expected);
        operators.stop().await;
        note(&world, name, "2").await;
    }
    let operators = world.start(register(applied())).await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}
