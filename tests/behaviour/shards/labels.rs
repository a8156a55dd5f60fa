//! Children that were made before their parents were shared out.

use serde_json::Value;

use super::{create_parents, made, parents, process, until_all_ready, until_shared};
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
    let all = || async { made(&world).await };
    let are_labelled =
        |all: &Vec<Value>| all.iter().all(|it| it["metadata"]["labels"][BUCKET].is_string());
    let labelled = eventually("the labels", all, are_labelled).await;
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

fn version(object: &Value) -> String {
    object["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
}
