//! Buckets pass from one process to another.

use super::{PARENTS, create_parents, parents, process, until_all_ready, until_shared, written};
use crate::{
    recipe::{RECIPE, config_map, recipe},
    world::{CONFIG_MAP, World},
};

#[operetta_harness::test(server)]
async fn nothing_is_written_when_processes_come_and_go_and_nothing_else_changes() {
    let world = World::that_logs_requests().await;
    let first = process(&world, "first").await;
    until_shared(&[&first]).await;
    create_parents(&world, "little").await;
    until_all_ready(&world).await;
    first.settled().await;
    let before = written(&world).await;
    let second = process(&world, "second").await;
    until_shared(&[&first, &second]).await;
    let third = process(&world, "third").await;
    until_shared(&[&first, &second, &third]).await;
    second.stop().await;
    until_shared(&[&first, &third]).await;
    first.settled().await;
    third.settled().await;
    assert_eq!(written(&world).await, before);
    assert_eq!(parents(&first).await.len() + parents(&third).await.len(), PARENTS);
    first.stop().await;
    third.stop().await;
}

#[operetta_harness::test(server)]
async fn a_process_that_stops_gives_its_parents_to_another_at_once() {
    let world = World::new().await;
    let first = process(&world, "first").await;
    until_shared(&[&first]).await;
    let second = process(&world, "second").await;
    until_shared(&[&first, &second]).await;
    first.stop().await;
    until_shared(&[&second]).await;
    world
        .apply(RECIPE, recipe("r", &[config_map("made", serde_json::json!({"salt": "much"}))]))
        .await;
    world.until_ready(RECIPE, "r").await;
    assert_eq!(world.get(CONFIG_MAP, "made").await["data"]["salt"], "much");
    second.stop().await;
}
