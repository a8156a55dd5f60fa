//! Changes of children that are rolled out a few at a time. A child is ready when somebody has noted its value
//! beside it, as a controller would.

mod one_by_one;
mod stopped;

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

/// Waits until each of these children has a value, one after the other, and notes it.
async fn roll_out(world: &World, names: &[&str], x: &str) {
    for name in names {
        until_at(world, name, x).await;
        note(world, name, x).await;
    }
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
