//! Operators that are registered and deregistered while the process runs.

use operators::echo_server;
use operetta::{operator::AnyHandler, prelude::*};
use serde_json::{Value, json};

use crate::{
    cluster::Request,
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, ECHO, Operators, World},
};

mod elected;
mod finalizing;
mod killed;
mod leaving;
mod panicking;
mod reconfigured;
mod refused;
mod reselected;
mod watches;

/// Starts the echo server alone, with one parent that is up to date.
async fn with_echo_server(world: &World) -> Operators {
    let (config, handler) = echo_server();
    let operators = world.start(|builder| builder.register(config, handler)).await;
    world.apply(ECHO, json!({"metadata": {"name": "a"}, "spec": {"serviceName": "x"}})).await;
    world.until_synced(ECHO, "a").await;
    operators.running().settled().await;
    operators
}

fn echo_server() -> (OperatorConfig, AnyHandler) {
    (echo_server::config(), echo_server::handler())
}

/// Registers the operator of recipes.
async fn register_cook(operators: &Operators) {
    let registrar = operators.running().registrar();
    registrar.register(recipe::config("cook"), recipe::handler()).await.unwrap();
}

/// A parent of it with one child, both up to date.
async fn cooked(world: &World, name: &str) -> Value {
    world.apply(RECIPE, recipe(name, &[config_map(name, json!({"a": "b"}))])).await;
    world.until_ready(RECIPE, name).await;
    world.get(CONFIG_MAP, name).await
}

/// How many watches of a type were opened.
fn watches(requests: &[Request], resource: &str) -> usize {
    asked(requests, resource, "watch")
}

fn asked(requests: &[Request], resource: &str, verb: &str) -> usize {
    requests.iter().filter(|it| it.resource == resource && it.verb == verb).count()
}
