//! An edit by another manager that makes items of a list collide: an apply of the desired item adds a second one,
//! which the server refuses.

use k8s_openapi::api::core::v1::Service;
use operetta::{operator::ConflictPolicy, prelude::*};
use serde_json::{Value, json};

use super::message;
use crate::{
    recipe::{self, RECIPE, recipe},
    world::{Operators, SERVICE, World},
};

/// With a Service whose port `http` another manager gave another number.
async fn collided(child: ChildConfig) -> (World, Operators) {
    let world = World::new().await;
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent).child::<Service>(child);
    let operators = world.start(|builder| builder.register(config, recipe::handler())).await;
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": {"ports": [{"name": "http", "port": 80}, {"name": "dns", "port": 53}]},
    });
    world.apply(RECIPE, recipe("r", &[service])).await;
    world.until_ready(RECIPE, "r").await;
    let moved =
        json!([{"name": "http", "port": 9000, "targetPort": 3000}, {"name": "dns", "port": 53}]);
    world.patch(SERVICE, "s", json!({"spec": {"ports": moved}})).await;
    (world, operators)
}

fn ports(service: &Value) -> Vec<(&str, i64)> {
    let ports = service["spec"]["ports"].as_array().unwrap();
    let mut ports: Vec<_> = ports
        .iter()
        .map(|port| (port["name"].as_str().unwrap(), port["port"].as_i64().unwrap()))
        .collect();
    ports.sort_unstable();
    ports
}

#[operetta_harness::test(server)]
async fn an_item_that_collides_with_a_desired_one_is_removed() {
    let (world, operators) = collided(ChildConfig::apply()).await;
    let is_repaired = |service: &Value| ports(service) == [("dns", 53), ("http", 80)];
    world.until(SERVICE, "s", "the repair", is_repaired).await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn an_item_that_collides_and_may_not_be_taken_is_reported_with_its_manager() {
    let report = ChildConfig::apply().with_conflicts(ConflictPolicy::Report);
    let (world, operators) = collided(report).await;
    let holder = "an item of `spec.ports` is owned by `by-hand`";
    let is_reported = |parent: &Value| message(parent).contains(holder);
    world.until(RECIPE, "r", "the report", is_reported).await;
    let service = world.get(SERVICE, "s").await;
    assert_eq!(ports(&service), [("dns", 53), ("http", 9000)], "it stays with who holds it");
    operators.stop().await;
}
