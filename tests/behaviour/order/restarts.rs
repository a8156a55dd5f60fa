//! A process that ends while a stage waits: the next one continues from what exists.

use super::*;
use crate::killed::killed_at_patch;

#[operetta_harness::test]
async fn a_restart_continues_with_the_stage_that_waits_and_writes_nothing_again() {
    let world = World::that_logs_requests().await;
    let operators = start(&world).await;
    let stages: [&[Value]; 2] = [&[pod("d")], &[config_map("c", json!({}))]];
    world.apply(RECIPE, staged("r", &stages)).await;
    until_waiting(&world, "/d: it has not been scheduled yet").await;
    operators.settled().await;
    operators.stop().await;
    let before = writes(&world).await;
    let operators = start(&world).await;
    report(&world, "d", "True").await;
    world.until_ready(RECIPE, "r").await;
    operators.settled().await;
    let of_children = writes(&world).await.split_off(before.len());
    assert_eq!(of_children, ["patch configmaps"]);
    operators.stop().await;
}

/// The writes of children by our operators.
async fn writes(world: &World) -> Vec<String> {
    let requests = world.our_requests().await.into_iter();
    let requests = requests.filter(crate::cluster::Request::is_write);
    let of_children = requests.filter(|it| ["pods", "configmaps"].contains(&&*it.resource));
    of_children.map(|request| format!("{} {}", request.verb, request.resource)).collect()
}

/// Each write takes effect, and its reply is not read.
#[operetta_harness::test]
async fn a_process_that_is_killed_at_any_write_loses_no_stage_and_skips_none() {
    let world = World::new().await;
    let stages: [&[Value]; 3] = [&[pod("d")], &[pod("e")], &[config_map("c", json!({}))]];
    world.apply(RECIPE, staged("r", &stages)).await;
    let mut left = vec![(POD, "d"), (POD, "e"), (CONFIG_MAP, "c")];
    while !left.is_empty() {
        let (kind, name) = left.remove(0);
        killed_at_patch(&world, (kind.2, name), |builder| builder.register(config(), sync)).await;
        world.until(kind, name, "that it is written", Value::is_object).await;
        for (kind, name) in &left {
            assert!(world.get(*kind, name).await.is_null(), "{name} is written too early");
        }
        if kind.1 == POD.1 {
            report(&world, name, "True").await;
        }
    }
    let operators = start(&world).await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}
