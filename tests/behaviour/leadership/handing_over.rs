//! From one process to another.

use operetta_apiserver::faults::{Fault, FaultPlan, Rule};
use serde_json::{Value, json};

use super::{election, process, until_led_by};
use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, LEASE, World, eventually},
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

/// As behind a webhook that takes longer than the drain.
#[operetta_harness::test(server)]
async fn a_lease_expires_by_itself_where_a_write_was_not_answered_before_the_end() {
    let world = World::new().await;
    let plan = FaultPlan::new();
    let held = plan.add(
        Rule::new(Fault::HoldRequest)
            .verb("patch")
            .resource("configmaps")
            .namespace(&world.namespace),
    );
    let election = election(&world).as_identity("first");
    let connector = world.cluster.connector_through(&plan);
    let first = world
        .start_over(connector, |builder| {
            let builder = builder.leader_election(election);
            builder.register(recipe::config("cook"), recipe::handler())
        })
        .await;
    until_led_by(&world, "first").await;
    let second = process(&world, "second").await;
    world.apply(RECIPE, recipe("r", &[config_map("made", json!({"salt": "little"}))])).await;
    eventually("the write that is held", || async { held.hits() }, |hits| *hits == 1).await;
    first.stop().await;
    let lease = world.get(LEASE, "cooks").await;
    assert_eq!(lease["spec"]["holderIdentity"], "first", "it was not given back: {lease}");
    assert!(world.get(CONFIG_MAP, "made").await.is_null());
    until_led_by(&world, "second").await;
    world.apply(RECIPE, recipe("r", &[config_map("made", json!({"salt": "much"}))])).await;
    world.until(CONFIG_MAP, "made", "the change", |it| it["data"]["salt"] == "much").await;
    held.end();
    world.until_ready(RECIPE, "r").await;
    assert_eq!(world.get(CONFIG_MAP, "made").await["data"]["salt"], "much");
    second.stop().await;
}
