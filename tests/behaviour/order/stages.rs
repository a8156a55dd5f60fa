//! What is written when, and what stays.

use super::*;

#[operetta_harness::test]
async fn a_stage_is_written_once_the_one_before_it_is_ready() {
    let world = World::new().await;
    let operators = start(&world).await;
    let stages: [&[Value]; 3] = [&[pod("d")], &[pod("e")], &[config_map("c", json!({}))]];
    world.apply(RECIPE, staged("r", &stages)).await;
    until_waiting(&world, "/d: it has not been scheduled yet").await;
    assert!(world.get(POD, "e").await.is_null());
    report(&world, "d", "True").await;
    until_waiting(&world, "/e: it has not been scheduled yet").await;
    assert!(world.get(CONFIG_MAP, "c").await.is_null());
    report(&world, "e", "True").await;
    world.until_ready(RECIPE, "r").await;
    assert!(world.get(CONFIG_MAP, "c").await.is_object());
    operators.stop().await;
}
