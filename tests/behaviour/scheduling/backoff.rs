//! When a failed parent is retried: after the delay of its handler, not for changes of children, at once for
//! its own changes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use operetta::{
    object::ObjectKey,
    operator::{Permanent, RetryAfter},
    prelude::*,
    testkit::internals::board::ParentPhase,
};
use serde_json::{Value, json};

use crate::{
    cleaner::Cleaner,
    recipe::{self, RECIPE, acting, config_map, recipe},
    world::{CONFIG_MAP, Operators, World, condition, eventually},
};

/// A backoff that no test waits for.
const NEVER: Duration = Duration::from_hours(1);

fn with_long_backoff() -> OperatorConfig {
    recipe::config("cook").with_error_backoff(NEVER, NEVER)
}

/// A handler that fails until it is enabled.
#[derive(Clone, Default)]
struct Switch(Arc<AtomicBool>);

impl Switch {
    fn enable(&self, is_enabled: bool) {
        self.0.store(is_enabled, Ordering::Release);
    }
}

impl Handler for Switch {
    type Parent = Object;
    type Status = Value;

    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        if !self.0.load(Ordering::Acquire) {
            return Err(Error::msg("the oven is cold"));
        }
        recipe::sync(request)
    }
}

/// Waits until the last reconcile of a parent has failed and ended.
async fn until_failed(world: &World, operators: &Operators, name: &str) {
    let key = ObjectKey::namespaced(&world.namespace, name);
    let board = operators.running().board();
    let phase = || async { board.parent("cook", &key).map(|parent| parent.phase) };
    let has_failed = |phase: &_| matches!(phase, Some(ParentPhase::Failing | ParentPhase::Stalled));
    eventually("a reconcile that failed", phase, has_failed).await;
}

fn tasting(taste: &str) -> Value {
    let mut parent = recipe("r", &[config_map("c", json!({}))]);
    parent["spec"]["status"] = json!({"taste": taste});
    parent
}

/// Lets the last reconcile of a parent fail, after which the handler is enabled again.
async fn fail_once(world: &World, operators: &Operators, switch: &Switch) {
    switch.enable(true);
    world.apply(RECIPE, tasting("fine")).await;
    world.until_ready(RECIPE, "r").await;
    operators.until_synced("cook", &world.namespace, "r").await;
    switch.enable(false);
    world.apply(RECIPE, tasting("better")).await;
    until_failed(world, operators, "r").await;
    switch.enable(true);
}

#[operetta_harness::test]
async fn a_backoff_is_shortened_by_a_change_of_the_spec_and_not_by_a_deleted_child() {
    let world = World::new().await;
    let switch = Switch::default();
    let handler = switch.clone();
    let operators = world.start(|builder| builder.register(with_long_backoff(), handler)).await;
    fail_once(&world, &operators, &switch).await;
    world.delete(CONFIG_MAP, "c").await;
    operators.settled().await;
    assert!(world.get(CONFIG_MAP, "c").await.is_null(), "its parent was not reconciled");
    let parent = world.get(RECIPE, "r").await;
    assert_eq!(condition(&parent, "Ready")["message"], "the oven is cold");
    world.apply(RECIPE, tasting("best")).await;
    world.until(CONFIG_MAP, "c", "the child again", Value::is_object).await;
    assert_eq!(world.until_ready(RECIPE, "r").await["status"]["taste"], "best");
    operators.stop().await;
}

#[operetta_harness::test]
async fn the_deletion_of_a_parent_ends_its_backoff() {
    let world = World::new().await;
    let cleaner = Cleaner::default();
    let handler = cleaner.clone();
    let operators = world.start(|builder| builder.register(with_long_backoff(), handler)).await;
    world.create(RECIPE, acting("r", "fail")).await;
    until_failed(&world, &operators, "r").await;
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
    assert_eq!(cleaner.finalized(&world, "r"), 1);
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_handler_is_called_again_after_its_retry_delay_although_nothing_changed() {
    let world = World::new().await;
    let calls = AtomicU64::new(0);
    let handler = move |request: &SyncRequest| match calls.fetch_add(1, Ordering::Relaxed) {
        0..3 => Err(retry_after(Duration::from_millis(100))),
        _ => recipe::sync(request),
    };
    let operators = world.start(|builder| builder.register(with_long_backoff(), handler)).await;
    world.create(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    world.until_ready(RECIPE, "r").await;
    assert!(world.get(CONFIG_MAP, "c").await.is_object());
    operators.stop().await;
}

fn retry_after(delay: Duration) -> Error {
    RetryAfter { message: "the dough is rising".to_owned(), delay }.into()
}

/// Asserts that a parent that fails with this error is not retried until its spec changes, while another
/// one is retried.
async fn assert_not_retried(error: fn() -> Error, condition_type: &str) {
    let world = World::new().await;
    let handler = move |request: &SyncRequest| {
        let act = &request.parent.field("spec").unwrap_or_default()["act"];
        if act == "rest" { Err(error()) } else { recipe::sync(request) }
    };
    let operators = world.start(|builder| builder.register(recipe::config("cook"), handler)).await;
    world.apply(RECIPE, recipe("r", &[])).await;
    world.until_ready(RECIPE, "r").await;
    operators.settled().await;
    let reconciles = operators.reconciles("cook", &world.namespace, "r");
    let failing = world.apply(RECIPE, acting("r", "rest")).await;
    until_failed(&world, &operators, "r").await;
    let parent = world.get(RECIPE, "r").await;
    let (found, generation) =
        (condition(&parent, condition_type), &failing["metadata"]["generation"]);
    assert_eq!(found["observedGeneration"], *generation, "{condition_type}: {parent}");
    world.create(RECIPE, acting("other", "fail")).await;
    operators.until_reconciles("cook", &world.namespace, "other", 4).await;
    operators.settled().await;
    assert_eq!(operators.reconciles("cook", &world.namespace, "r"), reconciles + 1);
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    world.until(CONFIG_MAP, "c", "the child", Value::is_object).await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_long_retry_delay_ends_early_only_when_the_spec_changes() {
    assert_not_retried(|| retry_after(NEVER), "Reconciling").await;
}

#[operetta_harness::test]
async fn a_permanent_error_is_not_retried_until_the_spec_changes() {
    assert_not_retried(|| Permanent("no such dish".to_owned()).into(), "Stalled").await;
}
