//! A Lease that others change, and one that cannot be used.

use serde_json::{Value, json};

use super::{election, process, until_led_by, with};
use crate::{
    recipe::{RECIPE, config_map, recipe},
    world::{CONFIG_MAP, LEASE, Operators, World, eventually},
};

/// Waits until the process says this about its part, over HTTP.
async fn until_it_says(process: &Operators, what: &str, is_right: impl Fn(&Value) -> bool) {
    let part = || async {
        let (_, body) = process.http("/api/v1/operators/cook").await;
        serde_json::from_str::<Value>(&body).unwrap_or_default()["leadership"].clone()
    };
    eventually(what, part, is_right).await;
}

#[operetta_harness::test(server)]
async fn a_lease_that_is_taken_by_hand_stops_the_process_until_it_expires() {
    let world = World::new().await;
    let process = process(&world, "process").await;
    until_led_by(&world, "process").await;
    let by_hand = json!({"spec": {"holderIdentity": "somebody", "leaseDurationSeconds": 8,
        "renewTime": "2020-01-01T00:00:00.000000Z"}});
    world.patch(LEASE, "cooks", by_hand).await;
    until_it_says(&process, "the holder", |part| {
        part["holder"] == "somebody" && part["leads"] == false
    })
    .await;
    world.apply(RECIPE, recipe("r", &[config_map("made", json!({}))])).await;
    let lease = until_led_by(&world, "process").await;
    assert_eq!(lease["spec"]["leaseTransitions"], 1);
    world.until_ready(RECIPE, "r").await;
    assert!(world.get(CONFIG_MAP, "made").await["metadata"]["uid"].is_string());
    process.stop().await;
}

#[operetta_harness::test]
async fn a_process_whose_lease_is_in_no_namespace_writes_nothing_and_says_why() {
    let world = World::new().await;
    let nowhere = election(&world).in_namespace("no-such-namespace");
    let process = with(&world, nowhere).await;
    until_it_says(&process, "the problem", |part| {
        part["problem"].as_str().is_some_and(|why| why.contains("no-such-namespace"))
    })
    .await;
    world.apply(RECIPE, recipe("r", &[config_map("made", json!({}))])).await;
    let (code, body) = process.http("/readyz?verbose").await;
    assert!(code == 200 && body.contains("standby: nobody holds the Lease"), "{body}");
    assert!(body.contains("cannot be used: "), "{body}");
    assert_eq!(world.get(CONFIG_MAP, "made").await, Value::Null);
    process.stop().await;
}
