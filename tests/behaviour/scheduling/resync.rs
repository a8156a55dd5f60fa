//! Resync delays of a handler: the last answer counts.

use std::time::Duration;

use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, recipe},
    world::{Operators, World, eventually},
};

/// Syncs as recipes specify, with a resync after a delay of the parent's choice.
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let response = recipe::sync(request)?;
    let spec = request.parent.field("spec").unwrap_or_default();
    Ok(match spec["resyncMilliseconds"].as_u64() {
        Some(after) => response.resync_after(Duration::from_millis(after)),
        None => response,
    })
}

fn again_after(name: &str, milliseconds: u64) -> Value {
    let mut parent = recipe(name, &[]);
    parent["spec"]["resyncMilliseconds"] = json!(milliseconds);
    parent
}

async fn until_next_wake(world: &World, operators: &Operators, name: &str, why: &Value) {
    let path = format!("/api/v1/operators/cook/parents/{}/{name}", world.namespace);
    let wake = || async {
        let (_, body) = operators.http(&path).await;
        serde_json::from_str::<Value>(&body).unwrap()["nextWake"]["why"].clone()
    };
    eventually(&format!("the next wake of {name} for {why}"), wake, |shown| shown == why).await;
}

/// Another parent with resyncs measures the time in which none of this parent may come.
#[operetta_harness::test]
async fn a_resync_does_not_come_after_a_newer_reconcile_that_wants_none() {
    let world = World::new().await;
    let operators = world.start(|builder| builder.register(recipe::config("cook"), sync)).await;
    let reconciles = |name| operators.reconciles("cook", &world.namespace, name);
    world.apply(RECIPE, again_after("r", 1_000)).await;
    world.until_ready(RECIPE, "r").await;
    until_next_wake(&world, &operators, "r", &json!("Resync")).await;
    world.apply(RECIPE, recipe("r", &[])).await;
    world.until_ready(RECIPE, "r").await;
    until_next_wake(&world, &operators, "r", &Value::Null).await;
    operators.settled().await;
    let before = reconciles("r");
    world.apply(RECIPE, again_after("clock", 100)).await;
    operators.until_reconciles("cook", &world.namespace, "clock", 15).await;
    assert_eq!(reconciles("r"), before, "more than a second has passed");
    operators.stop().await;
}
