//! Children that were made before their parents were shared out.

use operetta_apiserver::faults::{Fault, FaultPlan, Rule};
use serde_json::Value;

use super::{create_parents, made, parents, process, process_over, until_all_ready, until_shared};
use crate::{
    recipe,
    world::{World, eventually},
};

const BUCKET: &str = "operetta.dev/bucket";

#[operetta_harness::test(server)]
async fn new_children_have_the_label_of_their_bucket_and_older_ones_get_it_with_one_write_each() {
    let world = World::new().await;
    let alone =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler())).await;
    create_parents(&world, "little").await;
    until_all_ready(&world).await;
    alone.settled().await;
    assert!(made(&world).await.iter().all(|it| it["metadata"]["labels"][BUCKET].is_null()));
    alone.stop().await;
    let before: Vec<String> = made(&world).await.iter().map(version).collect();
    let (first, second) =
        futures::future::join(process(&world, "first"), process(&world, "second")).await;
    until_shared(&[&first, &second]).await;
    let labelled = until_labelled(&world).await;
    first.settled().await;
    second.settled().await;
    let after: Vec<String> = made(&world).await.iter().map(version).collect();
    let written: Vec<String> = labelled.iter().map(version).collect();
    assert_eq!(after, written, "one write each");
    assert!(before.iter().zip(&after).all(|(before, after)| before != after));
    assert!(!parents(&first).await.is_empty() && !parents(&second).await.is_empty());
    first.stop().await;
    second.stop().await;
    let alone =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler())).await;
    until_all_ready(&world).await;
    alone.settled().await;
    let now: Vec<String> = made(&world).await.iter().map(version).collect();
    assert_eq!(now, after, "a process that works for all writes nothing");
    alone.stop().await;
}

async fn until_labelled(world: &World) -> Vec<Value> {
    let are_labelled =
        |all: &Vec<Value>| all.iter().all(|it| it["metadata"]["labels"][BUCKET].is_string());
    eventually("the labels", || made(world), are_labelled).await
}

#[operetta_harness::test(server)]
async fn a_child_whose_label_could_not_be_written_gets_it_later() {
    let world = World::new().await;
    let alone =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler())).await;
    create_parents(&world, "little").await;
    until_all_ready(&world).await;
    alone.stop().await;
    let plan = FaultPlan::new();
    let failed =
        plan.add(Rule::new(Fault::refuse(500)).verb("patch").resource("configmaps").times(3));
    let first = process_over(&world, "first", world.cluster.connector_through(&plan)).await;
    until_labelled(&world).await;
    assert_eq!(failed.hits(), 3);
    first.stop().await;
}

fn version(object: &Value) -> String {
    object["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
}
