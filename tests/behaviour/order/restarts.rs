//! A process that ends while a stage waits: the next one continues from what exists.

use super::*;
use crate::killed::killed_at_patch;

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
