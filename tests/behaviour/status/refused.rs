//! Invalid statuses of handlers are reported on the parent, and nothing is lost.

use anyhow::Error;
use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    reported::ExpectedFailure,
    world::{CONFIG_MAP, World, condition},
};

/// Syncs as recipes specify, with some statuses that no object can hold.
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let response = recipe::sync(request)?;
    let spec = request.parent.field("spec").unwrap_or_default();
    Ok(match spec["act"].as_str() {
        Some("large status") => {
            let size = usize::try_from(spec["size"].as_u64().unwrap_or_default())?;
            response.with_status(json!({"taste": "x".repeat(size)}))
        }
        _ => response,
    })
}

/// A parent with one child and this status.
fn returning(status: Value) -> Value {
    let mut parent = recipe("r", &[config_map("c", json!({"salt": "much"}))]);
    parent["spec"]["status"] = status;
    parent
}

fn acting(act: &str) -> Value {
    let mut parent = returning(json!({}));
    parent["spec"]["act"] = json!(act);
    parent
}

/// Asserts that an invalid status is reported in all places, that child and status are not modified, and that
/// the next valid status is written.
async fn survives(bad: Value, reason: &str, words: &str) {
    let world = World::new().await;
    let operators = world.start(|builder| builder.register(recipe::config("cook"), sync)).await;
    world.apply(RECIPE, returning(json!({"taste": "fine"}))).await;
    assert_eq!(world.until_ready(RECIPE, "r").await["status"]["taste"], "fine");
    let child = world.get(CONFIG_MAP, "c").await;
    let failure = ExpectedFailure::before(&world, &operators, "cook", reason).await;
    world.apply(RECIPE, bad).await;
    failure.until_reported("r", words).await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, child, "the child is not modified");
    assert_eq!(world.get(RECIPE, "r").await["status"]["taste"], "fine", "nor is the status");
    world.apply(RECIPE, returning(json!({"taste": "better"}))).await;
    assert_eq!(world.until_ready(RECIPE, "r").await["status"]["taste"], "better");
    assert_eq!(world.get(CONFIG_MAP, "c").await, child);
    operators.stop().await;
}

/// For etcd, for a request to etcd, and for the API server.
#[operetta_harness::test(server)]
async fn a_status_that_is_too_large_fails_the_reconcile_and_is_reported() {
    for size in [1_600_000, 2_500_000, 4_000_000] {
        let mut parent = acting("large status");
        parent["spec"]["size"] = json!(size);
        survives(parent, "WriteFailed", "the status: ").await;
    }
}

#[operetta_harness::test(server)]
async fn a_status_that_does_not_match_the_schema_is_refused_and_reported() {
    for status in [
        json!({"taste": 7}),
        json!({"taste": "odd", "conditions": "all well"}),
        json!({"taste": "odd", "conditions": {"Ready": true}}),
        json!({"taste": "odd", "conditions": [7, "Ready", {"type": 3}]}),
    ] {
        survives(returning(status), "WriteFailed", "the status: ").await;
    }
}

/// Asserts that a failure is reported although the handler returns an invalid status for it.
async fn assert_failure_is_reported(status: fn() -> Value) {
    let world = World::new().await;
    let on_error = move |_: &SyncRequest, _: &Error| (status(), None);
    let handler = (recipe::sync, on_error);
    let operators = world.start(|builder| builder.register(recipe::config("cook"), handler)).await;
    world.apply(RECIPE, returning(json!({"taste": "fine"}))).await;
    world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    let failure = ExpectedFailure::before(&world, &operators, "cook", "HandlerFailed").await;
    world.apply(RECIPE, recipe::acting("r", "fail")).await;
    failure.until_reported("r", "the oven is cold").await;
    let parent = world.get(RECIPE, "r").await;
    assert_eq!(condition(&parent, "Ready")["status"], "False");
    assert_eq!(parent["status"]["taste"], "fine");
    assert_eq!(world.get(CONFIG_MAP, "c").await, child, "the child is not modified");
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn a_failure_is_reported_although_its_status_does_not_match_the_schema() {
    assert_failure_is_reported(|| json!({"taste": 7})).await;
}
