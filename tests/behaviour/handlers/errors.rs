//! Handlers that choose status and retry for their errors; the children stay.

use std::{sync::Arc, time::Duration};

use anyhow::Error;
use operetta::{
    object::Object,
    operator::{AnyHandler, ErrorResponse, IntoHandler, Owns},
    prelude::*,
};
use serde_json::{Value, json};
use tokio::runtime::{Handle, Runtime};

use crate::{
    recipe::{self, RECIPE, acting, config_map, recipe},
    world::{CONFIG_MAP, World, condition, eventually},
};

/// A default backoff that no test waits for.
const NEVER: Duration = Duration::from_hours(1);

fn slow_backoff(config: OperatorConfig) -> OperatorConfig {
    config.with_error_backoff(NEVER, NEVER)
}

/// Asserts that the status reports the error, the child stays, the parent is retried after the delay of
/// the handler, and a fix is applied.
async fn answers_its_error<Form>(handler: impl IntoHandler<Form, Role = Owns>, message: &str) {
    let world = World::new().await;
    let config = slow_backoff(recipe::config("cook"));
    let operators = world.start(|builder| builder.register(config, handler)).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    world.apply(RECIPE, acting("r", "fail")).await;
    let tells = |parent: &Value| parent["status"]["taste"] == "burnt";
    let parent = world.until(RECIPE, "r", "the status of the error", tells).await;
    let ready = condition(&parent, "Ready");
    assert_eq!((&ready["status"], &ready["reason"]), (&json!("False"), &json!("HandlerFailed")));
    assert!(ready["message"].as_str().unwrap().starts_with(message), "{ready}");
    let failures = || async {
        let key = operetta::object::ObjectKey::namespaced(&world.namespace, "r");
        operators.running().board().parent("cook", &key).map_or(0, |parent| parent.failures)
    };
    eventually("retries", failures, |failures| *failures >= 3).await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, child, "the child is not modified");
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "none"}))])).await;
    world.until_ready(RECIPE, "r").await;
    assert_eq!(world.get(CONFIG_MAP, "c").await["data"]["salt"], "none");
    operators.stop().await;
}

#[operetta_harness::test]
async fn an_error_handler_chooses_status_and_retry_and_the_children_stay() {
    let on_error =
        |_: &SyncRequest, _: &Error| (json!({"taste": "burnt"}), Some(Duration::from_millis(20)));
    answers_its_error((recipe::sync, on_error), "the oven is cold").await;
    answers_its_error((recipe::sync_async, on_error), "the oven is cold").await;
    let on_error_async = |_: SyncRequest, error: Arc<Error>| async move {
        assert_eq!(error.to_string(), "the oven is cold");
        (json!({"taste": "burnt"}), Some(Duration::from_millis(20)))
    };
    answers_its_error((recipe::sync_async, on_error_async), "the oven is cold").await;
}

/// On the runtime of the program, on the supervisor's, or on a temporary one of a library.
#[operetta_harness::test]
async fn a_blocking_handler_may_wait_for_futures() {
    let world = World::new().await;
    let of_program = Handle::current();
    let handler = move |request: &SyncRequest| -> Result<SyncResponse> {
        let soon = || tokio::time::sleep(Duration::from_millis(1));
        of_program.block_on(async { soon().await });
        Handle::current().block_on(async { soon().await });
        Runtime::new()?.block_on(async { soon().await });
        recipe::sync(request)
    };
    let config = slow_backoff(recipe::config("cook"));
    let operators = world.start(|builder| builder.register(config, handler)).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}

/// Fails three times in finalize.
#[derive(Clone, Copy)]
struct FailingFinalize;

impl Handler for FailingFinalize {
    type Parent = Object;
    type Response = SyncResponse;

    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        recipe::sync(request)
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    fn finalize(&self, request: &SyncRequest) -> Result<FinalizeResponse> {
        match request.failures {
            0..3 => Err(Error::msg("the drain is clogged")),
            3.. => Ok(FinalizeResponse::done()),
        }
    }

    fn on_error(&self, _: &SyncRequest, _: &Error) -> ErrorResponse {
        ErrorResponse::status(json!({"taste": "burnt"})).retry_after(Duration::from_millis(20))
    }
}

impl AsyncHandler for FailingFinalize {
    type Parent = Object;
    type Response = SyncResponse;

    async fn sync(&self, request: SyncRequest) -> Result<SyncResponse> {
        recipe::sync_async(request).await
    }

    fn has_finalizer(&self) -> bool {
        true
    }

    async fn finalize(&self, request: SyncRequest) -> Result<FinalizeResponse> {
        tokio::task::yield_now().await;
        Handler::finalize(self, &request)
    }

    async fn on_error(&self, request: SyncRequest, error: Arc<Error>) -> ErrorResponse {
        tokio::task::yield_now().await;
        Handler::on_error(self, &request, &error)
    }
}

#[operetta_harness::test]
async fn an_error_of_finalize_is_answered_too_and_keeps_the_parent() {
    assert_answers_finalize(AnyHandler::blocking(FailingFinalize)).await;
    assert_answers_finalize(AnyHandler::asynchronous(FailingFinalize)).await;
}

async fn assert_answers_finalize(handler: AnyHandler) {
    let world = World::new().await;
    let config = slow_backoff(recipe::config("cook"));
    let operators = world.start(|builder| builder.register(config, handler)).await;
    let mut parent = recipe("r", &[]);
    parent["metadata"]["finalizers"] = json!(["test.operetta.dev/other"]);
    world.create(RECIPE, parent).await;
    world.until_ready(RECIPE, "r").await;
    world.delete(RECIPE, "r").await;
    let is_finalized =
        |parent: &Value| parent["metadata"]["finalizers"] == json!(["test.operetta.dev/other"]);
    let parent = world.until(RECIPE, "r", "our finalizer gone", is_finalized).await;
    assert_eq!(parent["status"]["taste"], "burnt", "the status of the last failure");
    world.patch(RECIPE, "r", json!({"metadata": {"finalizers": null}})).await;
    operators.stop().await;
}
