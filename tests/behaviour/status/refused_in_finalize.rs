//! Statuses that no good handler returns while it finalizes: that is said of the parent, which stays
//! until the handler is done.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    status::refused::deep,
    told::Trouble,
    world::{CONFIG_MAP, World},
};

type Status = fn() -> Value;

/// Has not finalized while it has such a status to show.
#[derive(Clone)]
struct Finalizing(Arc<Mutex<Option<Status>>>);

impl Finalizing {
    fn status(&self) -> Option<Status> {
        *self.0.lock().unwrap()
    }
}

impl Handler for Finalizing {
    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        recipe::sync(request)
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    fn finalize(&self, _: &SyncRequest) -> Result<FinalizeResponse> {
        let Some(status) = self.status() else { return Ok(FinalizeResponse::done()) };
        Ok(FinalizeResponse::retry_after(Duration::from_millis(100)).with_status(status()))
    }
}

/// A parent that was well is deleted, and its handler returns such a status again and again.
async fn keeps_the_parent(bad: Status, reason: &str, words: &str) {
    let world = World::new().await;
    let finalizing = Finalizing(Arc::new(Mutex::new(Some(bad))));
    let handler = finalizing.clone();
    // What is refused as it is is tried again after the longest backoff.
    let config = recipe::config("cook")
        .with_error_backoff(Duration::from_millis(100), Duration::from_millis(300));
    let operators = world.start(|builder| builder.register(config, handler)).await;
    let mut parent = recipe("r", &[config_map("c", json!({"salt": "much"}))]);
    parent["spec"]["status"] = json!({"taste": "fine"});
    world.create(RECIPE, parent).await;
    world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    let trouble = Trouble::ahead(&world, &operators, "cook", reason).await;
    world.delete(RECIPE, "r").await;
    trouble.until_told("r", words).await;
    let runs = operators.runs("cook", &world.namespace, "r");
    operators.until_reconciles("cook", &world.namespace, "r", runs + 2).await;
    let parent = world.get(RECIPE, "r").await;
    assert_eq!(parent["metadata"]["finalizers"], json!(["operetta.dev/cook"]), "{parent}");
    assert_eq!(parent["status"]["taste"], "fine", "the status stays as it was");
    assert_eq!(world.get(CONFIG_MAP, "c").await, child, "so does the child");
    *finalizing.0.lock().unwrap() = None;
    world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_status_that_is_no_object_keeps_the_finalizer_and_is_said() {
    let cases: [(Status, &str); 3] = [
        (|| json!("burnt"), "a string"),
        (|| json!(7), "a number"),
        (|| json!(["burnt"]), "a list"),
    ];
    for (status, kind) in cases {
        let words = format!("the status: it is {kind}, not a JSON object");
        keeps_the_parent(status, "HandlerFailed", &words).await;
    }
}

/// For etcd, and for the API server.
#[operetta_harness::test]
async fn a_status_that_is_too_large_keeps_the_finalizer_and_is_said() {
    for status in
        [|| json!({"taste": "x".repeat(1_600_000)}), || json!({"taste": "x".repeat(4_000_000)})]
    {
        keeps_the_parent(status, "WriteFailed", "the status: ").await;
    }
}

#[operetta_harness::test]
async fn a_status_that_is_nested_too_deep_keeps_the_finalizer_and_is_said() {
    let words = "the status: it is nested more than 100 levels deep";
    keeps_the_parent(|| json!({"taste": deep(1_000)}), "HandlerFailed", words).await;
}
