//! When a failed parent is retried: after the delay of its handler, not for changes of children, at once for
//! its own changes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Error;
use operetta::{
    object::{Object, ObjectKey},
    prelude::*,
    testkit::internals::board::ParentPhase,
};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
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
    type Response = SyncResponse;

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
    let message = condition(&parent, "Ready")["message"].to_string();
    assert!(message.starts_with("\"the oven is cold"), "{message}");
    world.apply(RECIPE, tasting("best")).await;
    world.until(CONFIG_MAP, "c", "the child again", Value::is_object).await;
    assert_eq!(world.until_ready(RECIPE, "r").await["status"]["taste"], "best");
    operators.stop().await;
}
