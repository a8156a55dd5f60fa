//! Statuses that no good handler returns: that is said of the parent, and nothing is lost for it.

use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    told::Trouble,
    world::{CONFIG_MAP, World, condition},
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

/// A parent is well, then its handler returns such a status: that is said everywhere, the child and the
/// status stay as they were, and the next good status is written.
async fn survives(bad: Value, reason: &str, words: &str) {
    let world = World::new().await;
    let operators = world.start(|builder| builder.register(recipe::config("cook"), sync)).await;
    world.apply(RECIPE, returning(json!({"taste": "fine"}))).await;
    assert_eq!(world.until_ready(RECIPE, "r").await["status"]["taste"], "fine");
    let child = world.get(CONFIG_MAP, "c").await;
    let trouble = Trouble::ahead(&world, &operators, "cook", reason).await;
    world.apply(RECIPE, bad).await;
    trouble.until_told("r", words).await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, child, "the child stays as it is");
    assert_eq!(world.get(RECIPE, "r").await["status"]["taste"], "fine", "so does the status");
    world.apply(RECIPE, returning(json!({"taste": "better"}))).await;
    assert_eq!(world.until_ready(RECIPE, "r").await["status"]["taste"], "better");
    assert_eq!(world.get(CONFIG_MAP, "c").await, child);
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_status_that_is_no_object_fails_the_reconcile_and_that_is_said() {
    for (status, kind) in [
        (json!("soup"), "a string"),
        (json!(7), "a number"),
        (json!(["soup"]), "a list"),
        (json!(true), "a boolean"),
    ] {
        let words = format!("the status: it is {kind}, not a JSON object");
        survives(returning(status), "HandlerFailed", &words).await;
    }
}

#[operetta_harness::test]
async fn a_status_that_is_no_object_is_said_of_each_parent_and_null_is_no_status() {
    let world = World::new().await;
    let operators = world.start(|builder| builder.register(recipe::config("cook"), sync)).await;
    for name in ["one", "other"] {
        let trouble = Trouble::ahead(&world, &operators, "cook", "HandlerFailed").await;
        let mut parent = recipe(name, &[config_map(name, json!({}))]);
        parent["spec"]["status"] = json!("soup");
        world.apply(RECIPE, parent).await;
        trouble.until_told(name, "the status: it is a string, not a JSON object").await;
        assert!(world.get(CONFIG_MAP, name).await.is_null(), "nothing of the answer is followed");
        world.patch(RECIPE, name, json!({"spec": {"status": null}})).await;
        world.until_ready(RECIPE, name).await;
    }
    operators.stop().await;
}

/// For etcd, for the way to it, and for the API server.
#[operetta_harness::test]
async fn a_status_that_is_too_large_fails_the_reconcile_and_that_is_said() {
    for size in [1_600_000, 2_500_000, 4_000_000] {
        let mut parent = acting("large status");
        parent["spec"]["size"] = json!(size);
        survives(parent, "WriteFailed", "the status: ").await;
    }
}

#[operetta_harness::test]
async fn a_status_that_is_nested_too_deep_fails_the_reconcile_and_that_is_said() {
    let words = "the status: it is nested more than 100 levels deep";
    survives(acting("deep status"), "HandlerFailed", words).await;
}

#[operetta_harness::test]
async fn a_status_of_another_shape_than_its_type_declares_is_refused_and_that_is_said() {
    for status in [
        json!({"taste": 7}),
        json!({"taste": "odd", "conditions": "all well"}),
        json!({"taste": "odd", "conditions": {"Ready": true}}),
        json!({"taste": "odd", "conditions": [7, "Ready", {"type": 3}]}),
    ] {
        survives(returning(status), "WriteFailed", "the status: ").await;
    }
}

/// A handler fails, and wants a status for that which cannot be: the failure is said all the same.
async fn hides_no_failure(status: fn() -> Value) {
    let world = World::new().await;
    let on_error = move |_: &SyncRequest, _: &Error| (status(), None);
    let handler = (recipe::sync, on_error);
    let operators = world.start(|builder| builder.register(recipe::config("cook"), handler)).await;
    world.apply(RECIPE, returning(json!({"taste": "fine"}))).await;
    world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    let trouble = Trouble::ahead(&world, &operators, "cook", "HandlerFailed").await;
    world.apply(RECIPE, recipe::acting("r", "fail")).await;
    trouble.until_told("r", "the oven is cold").await;
    let parent = world.get(RECIPE, "r").await;
    assert_eq!(condition(&parent, "Ready")["status"], "False");
    assert_eq!(parent["status"]["taste"], "fine");
    assert_eq!(world.get(CONFIG_MAP, "c").await, child, "the child stays as it is");
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_failure_is_said_although_the_status_for_it_is_nested_too_deep() {
    hides_no_failure(|| json!({"taste": deep(1_000)})).await;
}

#[operetta_harness::test]
async fn a_failure_is_said_although_the_status_for_it_is_no_object() {
    hides_no_failure(|| json!("burnt")).await;
}

#[operetta_harness::test]
async fn a_failure_is_said_although_the_status_for_it_is_too_large() {
    hides_no_failure(|| json!({"taste": "x".repeat(4_000_000)})).await;
}

#[operetta_harness::test]
async fn a_failure_is_said_although_the_status_for_it_does_not_fit_its_type() {
    hides_no_failure(|| json!({"taste": 7})).await;
}
