//! Statuses that no good handler returns: that is said of the parent, and nothing is lost for it.

use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, EVENT, World, condition, eventually},
};

/// As recipes say, but for the statuses that no object could hold.
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let response = recipe::sync(request)?;
    let spec = request.parent.field("spec").unwrap_or_default();
    Ok(match spec["act"].as_str() {
        Some("large status") => {
            let size = usize::try_from(spec["size"].as_u64().unwrap_or_default())?;
            response.with_status(json!({"taste": "x".repeat(size)}))
        }
        Some("deep status") => response.with_status(json!({"taste": deep(1_000)})),
        _ => response,
    })
}

pub(crate) fn deep(levels: usize) -> Value {
    (0..levels).fold(json!("fine"), |inner, _| json!({"more": inner}))
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

/// Waits until a Warning Event about the parent and its condition say this.
pub(crate) async fn until_said(world: &World, in_event: &str, in_condition: &str) {
    let is_it = |event: &Value| {
        let note = event["note"].as_str().unwrap_or_default();
        event["type"] == "Warning" && event["regarding"]["name"] == "r" && note.contains(in_event)
    };
    let what = format!("a Warning Event: {in_event}");
    eventually(&what, || world.list(EVENT), |events| events.iter().any(is_it)).await;
    let says = |parent: &Value| {
        let ready = condition(parent, "Ready");
        ready["observedGeneration"] == parent["metadata"]["generation"]
            && ready["message"].as_str().unwrap_or_default().contains(in_condition)
    };
    world.until(RECIPE, "r", &format!("Ready: {in_condition}"), says).await;
}

/// A parent is well, then its handler returns such a status: that is said, the child and the status
/// stay as they were, and the next good status is written.
async fn survives(bad: Value, in_event: &str, in_condition: &str) {
    let Some(world) = World::new().await else { return };
    let operators = world.start(|builder| builder.register(recipe::config("cook"), sync)).await;
    world.apply(RECIPE, returning(json!({"taste": "fine"}))).await;
    assert_eq!(world.until_ready(RECIPE, "r").await["status"]["taste"], "fine");
    let child = world.get(CONFIG_MAP, "c").await;
    world.apply(RECIPE, bad).await;
    until_said(&world, in_event, in_condition).await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, child, "the child stays as it is");
    assert_eq!(world.get(RECIPE, "r").await["status"]["taste"], "fine", "so does the status");
    world.apply(RECIPE, returning(json!({"taste": "better"}))).await;
    assert_eq!(world.until_ready(RECIPE, "r").await["status"]["taste"], "better");
    assert_eq!(world.get(CONFIG_MAP, "c").await, child);
    operators.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_that_is_no_object_is_not_written_and_that_is_said() {
    for status in [json!("soup"), json!(7), json!(["soup"]), json!(true)] {
        survives(returning(status), "it is not written", "as desired").await;
    }
}

/// For etcd, for the way to it, and for the API server.
#[tokio::test(flavor = "multi_thread")]
async fn a_status_that_is_too_large_fails_the_run_and_that_is_said() {
    for size in [1_600_000, 2_500_000, 4_000_000] {
        let mut parent = acting("large status");
        parent["spec"]["size"] = json!(size);
        survives(parent, "the status: ", "the status: ").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_that_is_nested_too_deep_fails_the_run_and_that_is_said() {
    let words = "the status: it is nested more than 100 levels deep";
    survives(acting("deep status"), words, words).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_of_another_shape_than_its_type_declares_is_refused_and_that_is_said() {
    for status in [
        json!({"taste": 7}),
        json!({"taste": "odd", "conditions": "all well"}),
        json!({"taste": "odd", "conditions": {"Ready": true}}),
        json!({"taste": "odd", "conditions": [7, "Ready", {"type": 3}]}),
    ] {
        survives(returning(status), "the status: ", "the status: ").await;
    }
}

/// A handler fails, and wants a status for that which cannot be: the failure is said all the same.
async fn hides_no_failure(status: fn() -> Value) {
    let Some(world) = World::new().await else { return };
    let on_error = move |_: &SyncRequest, _: &Error| (status(), None);
    let handler = (recipe::sync, on_error);
    let operators = world.start(|builder| builder.register(recipe::config("cook"), handler)).await;
    world.apply(RECIPE, returning(json!({"taste": "fine"}))).await;
    world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    world.apply(RECIPE, recipe::acting("r", "fail")).await;
    until_said(&world, "the oven is cold", "the oven is cold").await;
    let parent = world.get(RECIPE, "r").await;
    assert_eq!(condition(&parent, "Ready")["status"], "False");
    assert_eq!(parent["status"]["taste"], "fine");
    assert_eq!(world.get(CONFIG_MAP, "c").await, child, "the child stays as it is");
    operators.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_said_although_the_status_for_it_is_nested_too_deep() {
    hides_no_failure(|| json!({"taste": deep(1_000)})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_said_although_the_status_for_it_is_no_object() {
    hides_no_failure(|| json!("burnt")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_said_although_the_status_for_it_is_too_large() {
    hides_no_failure(|| json!({"taste": "x".repeat(4_000_000)})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_said_although_the_status_for_it_does_not_fit_its_type() {
    hides_no_failure(|| json!({"taste": 7})).await;
}
