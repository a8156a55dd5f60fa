//! From one process to another.

use serde_json::{Value, json};

use super::{process, until_led_by};
use crate::{
    recipe::{RECIPE, config_map, recipe},
    world::{CONFIG_MAP, LEASE, World},
};

#[operetta_harness::test(server)]
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
