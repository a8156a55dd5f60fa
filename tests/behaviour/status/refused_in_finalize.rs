//! Invalid statuses of finalize are reported on the parent, which stays until the handler is done.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    reported::ExpectedFailure,
    status::refused::deep,
    world::{CONFIG_MAP, World},
};

type Status = fn() -> Value;

/// Returns this status from finalize, and is done without one.
#[derive(Clone)]
struct Finalizing(Arc<Mutex<Option<Status>>>);

impl Finalizing {
    fn status(&self) -> Option<Status> {
        *self.0.lock().unwrap()
    }
}

impl Handler for Finalizing {
    type Parent = Object;
    type Status = Value;

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

/// Asserts that a deleted parent stays while its handler returns an invalid status.
async fn assert_parent_stays(bad: Status, reason: &str, words: &str) {
    let world = World::new().await;
    let finalizing = Finalizing(Arc::new(Mutex::new(Some(bad))));
    let handler = finalizing.clone();
    // A permanent refusal is retried after the longest backoff.
    let config = recipe::config("cook")
        .with_error_backoff(Duration::from_millis(100), Duration::from_millis(300));
    let operators = world.start(|builder| builder.register(config, handler)).await;
    let mut parent = recipe("r", &[config_map("c", json!({"salt": "much"}))]);
    parent["spec"]["status"] = json!({"taste": "fine"});
    world.create(RECIPE, parent).await;
    world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    let failure = ExpectedFailure::before(&world, &operators, "cook", reason).await;
    world.delete(RECIPE, "r").await;
    failure.until_reported("r", words).await;
    let reconciles = operators.reconciles("cook", &world.namespace, "r");
    operators.until_reconciles("cook", &world.namespace, "r", reconciles + 2).await;
    let parent = world.get(RECIPE, "r").await;
    assert_eq!(parent["metadata"]["finalizers"], json!(["operetta.dev/cook"]), "{parent}");
    assert_eq!(parent["status"]["taste"], "fine", "the status is not modified");
    assert_eq!(world.get(CONFIG_MAP, "c").await, child, "nor is the child");
    *finalizing.0.lock().unwrap() = None;
    world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_status_that_is_not_an_object_keeps_the_finalizer_and_is_reported() {
    let cases: [(Status, &str); 3] = [
        (|| json!("burnt"), "a string"),
        (|| json!(7), "a number"),
        (|| json!(["burnt"]), "a list"),
    ];
    for (status, kind) in cases {
        let words = format!("the status: it is {kind}, not a JSON object");
        assert_parent_stays(status, "HandlerFailed", &words).await;
    }
}

/// For etcd, and for the API server.
#[operetta_harness::test]
async fn a_status_that_is_too_large_keeps_the_finalizer_and_is_reported() {
    for status in
        [|| json!({"taste": "x".repeat(1_600_000)}), || json!({"taste": "x".repeat(4_000_000)})]
    {
        assert_parent_stays(status, "WriteFailed", "the status: ").await;
    }
}

#[operetta_harness::test]
async fn a_status_that_is_nested_too_deeply_keeps_the_finalizer_and_is_reported() {
    let words = "the status: it is nested more than 100 levels deep";
    assert_parent_stays(|| json!({"taste": deep(1_000)}), "HandlerFailed", words).await;
}
