//! From one process to another.

use serde_json::{Value, json};

use super::{election, process, until_led_by, with};
use crate::{
    recipe::{RECIPE, config_map, recipe},
    world::{CONFIG_MAP, LEASE, World},
};

#[operetta_harness::test]
async fn only_the_leader_writes_and_a_standby_continues_when_it_stops() {
    let world = World::new().await;
    let first = process(&world, "first").await;
    let lease = until_led_by(&world, "first").await;
    assert_eq!(lease["spec"]["leaseDurationSeconds"], 4);
    assert_eq!(lease["spec"]["leaseTransitions"], 0);
    let second = process(&world, "second").await;
    world.apply(RECIPE, recipe("r", &[config_map("made", json!({"salt": "little"}))])).await;
    world.until_ready(RECIPE, "r").await;
    assert_eq!(second.reconciles("cook", &world.namespace, "r"), 0);
    first.stop().await;
    let lease = until_led_by(&world, "second").await;
    assert_eq!(lease["spec"]["leaseTransitions"], 1);
    let made = config_map("made", json!({"salt": "much"}));
    world.apply(RECIPE, recipe("r", &[made])).await;
    world.until(CONFIG_MAP, "made", "the change", |it| it["data"]["salt"] == "much").await;
    second.stop().await;
    let lease = world.get(LEASE, "cooks").await;
    assert_eq!(lease["spec"]["holderIdentity"], Value::Null, "it was given back");
}

#[operetta_harness::test]
async fn what_changed_while_nobody_led_is_done_by_the_next_leader() {
    let world = World::new().await;
    let first = process(&world, "first").await;
    until_led_by(&world, "first").await;
    world.apply(RECIPE, recipe("r", &[config_map("made", json!({"salt": "little"}))])).await;
    world.until_ready(RECIPE, "r").await;
    first.stop().await;
    world.delete(CONFIG_MAP, "made").await;
    world.apply(RECIPE, recipe("s", &[config_map("other", json!({}))])).await;
    let second = process(&world, "second").await;
    world.until_ready(RECIPE, "s").await;
    world.until(CONFIG_MAP, "made", "its repair", |it| it["metadata"]["uid"].is_string()).await;
    second.stop().await;
}

#[operetta_harness::test]
async fn operators_of_their_own_leases_are_shared_by_the_processes() {
    let world = World::new().await;
    let process = with(&world, election(&world).as_identity("a").per_operator()).await;
    let lease = world
        .until(LEASE, "cooks-cook", "its holder", |lease| lease["spec"]["holderIdentity"] == "a")
        .await;
    assert!(lease["spec"]["acquireTime"].is_string());
    world.apply(RECIPE, recipe("r", &[config_map("made", json!({}))])).await;
    world.until_ready(RECIPE, "r").await;
    process.stop().await;
}
