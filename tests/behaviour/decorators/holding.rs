//! Replicas that a decorator holds come back, also when a process ends at any write, or somebody else scales.

use operetta::operator::HeldReplicas;
use operetta_apiserver::faults::{Fault, FaultPlan, Rule};

use super::*;
use crate::killed::killed_at;

fn register(world: &World) -> impl FnOnce(SupervisorBuilder) -> SupervisorBuilder {
    let config = config("decorator", &world.namespace).with_held_replicas();
    |builder| builder.register(config, sync)
}

/// A Deployment with three replicas.
async fn three(world: &World) {
    deployment(world, "d", Some(json!({}))).await;
    world.patch(DEPLOYMENT, "d", json!({"spec": {"replicas": 3}})).await;
}

/// The replicas, and what is recorded of them.
async fn until(world: &World, replicas: i32, record: &str) {
    let label = HeldReplicas::label("decorator");
    let is_it = |deployment: &Value| {
        let recorded = deployment["metadata"]["labels"][&label].as_str().unwrap_or_default();
        deployment["spec"]["replicas"] == replicas && recorded == record
    };
    world.until(DEPLOYMENT, "d", &format!("{replicas} replicas, `{record}`"), is_it).await;
}

/// Returns this from the handler, and kills the process at the n-th patch that follows from it.
async fn killed(world: &World, (resource, nth): (&str, usize), wanted: Value) {
    let change = async || decorate(world, "d", wanted).await;
    killed_at(world, ("patch", resource, nth), register(world), change).await;
}

#[operetta_harness::test]
async fn a_crash_at_any_write_loses_no_number_of_replicas() {
    for write in [("deployments", 1), ("deployments/scale", 1), ("deployments", 2)] {
        let world = World::new().await;
        three(&world).await;
        killed(&world, write, json!({"replicas": 0})).await;
        let operators = world.start(register(&world)).await;
        until(&world, 0, "held-3-at-0").await;
        operators.settled().await;
        operators.stop().await;
        // The scale first, and then the label.
        let write = (write.0, 1);
        killed(&world, write, json!({})).await;
        let operators = world.start(register(&world)).await;
        until(&world, 3, "").await;
        operators.stop().await;
    }
}

#[operetta_harness::test(server)]
async fn a_parent_that_was_scaled_between_the_record_and_the_scale_is_recorded_again() {
    let world = World::new().await;
    three(&world).await;
    let plan = FaultPlan::new();
    let connector = world.cluster.connector_through(&plan);
    let operators = world.start_over(connector, register(&world)).await;
    let rule = Rule::new(Fault::HoldReply).verb("patch").resource("deployments");
    let held = plan.add(rule.namespace(&world.namespace).times(1));
    decorate(&world, "d", json!({"replicas": 0})).await;
    held.until_hits(1).await;
    world.patch(DEPLOYMENT, "d", json!({"spec": {"replicas": 5}})).await;
    held.end();
    until(&world, 0, "held-5-at-0").await;
    decorate(&world, "d", Value::Null).await;
    until(&world, 5, "").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_scale_that_is_refused_is_reported_and_tried_again() {
    let world = World::new().await;
    three(&world).await;
    let plan = FaultPlan::new();
    let connector = world.cluster.connector_through(&plan);
    let operators = world.start_over(connector, register(&world)).await;
    let refused = plan.add(Rule::new(Fault::refuse(403)).resource("deployments/scale"));
    decorate(&world, "d", json!({"replicas": 0})).await;
    until_failing(&world, &operators, &["the replicas of the parent"]).await;
    until(&world, 3, "recorded-3-at-0").await;
    refused.end();
    until(&world, 0, "held-3-at-0").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn replicas_are_refused_without_the_option() {
    let world = World::new().await;
    three(&world).await;
    decorate(&world, "d", json!({"replicas": 0})).await;
    let operators = start(&world).await;
    until_failing(&world, &operators, &["add `.with_held_replicas()`"]).await;
    until(&world, 3, "").await;
    operators.stop().await;
}
