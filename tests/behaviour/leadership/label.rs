//! The label of the leader on its Pod, by which a Service selects it.

use operetta::election::LEADER_LABEL;
use operetta_apiserver::faults::{Fault, FaultPlan, Rule};
use serde_json::json;

use super::*;
use crate::{
    recipe::{RECIPE, recipe},
    world::POD,
};

/// A Pod that a process could run in.
async fn create_pod(world: &World, name: &str, labels: Value) {
    let spec = json!({"containers": [{"name": "c", "image": "example.com/none"}]});
    let metadata = json!({"name": name, "labels": labels});
    world.create(POD, json!({"metadata": metadata, "spec": spec})).await;
}

/// A process of two, in the Pod of this name.
async fn process_in(world: &World, pod: &str) -> Operators {
    with(world, election(world).as_identity(pod).labels_pod(pod)).await
}

async fn until_labelled(world: &World, pod: &str) -> Value {
    let is_leader = |pod: &Value| pod["metadata"]["labels"][LEADER_LABEL] == "true";
    world.until(POD, pod, "the label of the leader", is_leader).await
}

async fn until_not_labelled(world: &World, pod: &str) -> Value {
    let is_standby = |pod: &Value| pod["metadata"]["labels"].get(LEADER_LABEL).is_none();
    world.until(POD, pod, "the Pod without the label", is_standby).await
}

#[operetta_harness::test]
async fn the_pod_of_the_leader_has_the_label_and_that_of_a_standby_has_not() {
    let world = World::new().await;
    create_pod(&world, "first", json!({"app": "cooks"})).await;
    // As after a restart of the container of a leader.
    create_pod(&world, "second", json!({"app": "cooks", LEADER_LABEL: "true"})).await;
    let first = process_in(&world, "first").await;
    until_led_by(&world, "first").await;
    let second = process_in(&world, "second").await;
    let labelled = until_labelled(&world, "first").await;
    assert_eq!(labelled["metadata"]["labels"]["app"], "cooks", "the others are kept");
    until_not_labelled(&world, "second").await;
    first.stop().await;
    until_labelled(&world, "second").await;
    until_not_labelled(&world, "first").await;
    second.stop().await;
    let stopped = until_not_labelled(&world, "second").await;
    assert_eq!(stopped["metadata"]["labels"], json!({"app": "cooks"}));
}

#[operetta_harness::test]
async fn a_pod_that_cannot_be_labelled_is_tried_again_and_the_process_leads_meanwhile() {
    let world = World::new().await;
    create_pod(&world, "only", json!({})).await;
    let plan = FaultPlan::new();
    let refused = plan.add(
        Rule::new(Fault::refuse(403)).verb("patch").resource("pods").namespace(&world.namespace),
    );
    let election = election(&world).as_identity("only").labels_pod("only");
    let process = world
        .start_over(world.cluster.connector_through(&plan), |builder| {
            builder.leader_election(election).register(recipe::config("cook"), recipe::handler())
        })
        .await;
    until_led_by(&world, "only").await;
    world.apply(RECIPE, recipe("r", &[])).await;
    world.until_ready(RECIPE, "r").await;
    refused.until_hits(2).await;
    refused.end();
    until_labelled(&world, "only").await;
    process.stop().await;
    until_not_labelled(&world, "only").await;
}
