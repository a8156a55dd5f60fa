//! When a parent that failed reconciles again: as its handler says, not for its children, at once for a
//! change of its own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use operetta::{object::{ObjectKey}, operator::{Permanent, RetryAfter}, prelude::*, testkit::{internals::{board::ParentPhase}}};
use serde_json::{Value, json};

use crate::{
    cleaner::Cleaner,
    recipe::{self, RECIPE, acting, config_map, recipe},
    world::{CONFIG_MAP, Operators, World, condition, eventually},
};

/// No test waits for it.
const NEVER: Duration = Duration::from_hours(1);

fn patient() -> OperatorConfig {
    recipe::config("cook").with_error_backoff(NEVER, NEVER)
}

/// Fails while it is cold.
#[derive(Clone, Default)]
struct Oven(Arc<AtomicBool>);

impl Oven {
    fn heat(&self, is_hot: bool) {
        self.0.store(is_hot, Ordering::Release);
    }
}

impl Handler for Oven {
    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        if !self.0.load(Ordering::Acquire) {
            return Err(Error::msg("the oven is cold"));
        }
        recipe::sync(request)
    }
}

/// Waits until the last reconcile of a parent has failed, and ended.
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

/// A parent whose last reconcile failed, with an oven that is hot by now.
async fn fails_once(world: &World, operators: &Operators, oven: &Oven) {
    oven.heat(true);
    world.apply(RECIPE, tasting("fine")).await;
    world.until_ready(RECIPE, "r").await;
    operators.until_synced("cook", &world.namespace, "r").await;
    oven.heat(false);
    world.apply(RECIPE, tasting("better")).await;
    until_failed(world, operators, "r").await;
    oven.heat(true);
}

/// Waits until the operator has been told of all that happened to children until now, which it is
/// in their order.
async fn told(world: &World) {
    world.apply(RECIPE, recipe("later", &[config_map("later", json!({}))])).await;
    world.until_ready(RECIPE, "later").await;
    world.delete(CONFIG_MAP, "later").await;
    world.until(CONFIG_MAP, "later", "a child that came back", Value::is_object).await;
}

#[operetta_harness::test]
async fn a_child_that_goes_does_not_cut_a_backoff_short_and_a_change_of_the_spec_does() {
    let world = World::new().await;
    let oven = Oven::default();
    let handler = oven.clone();
    let operators = world.start(|builder| builder.register(patient(), handler)).await;
    fails_once(&world, &operators, &oven).await;
    world.delete(CONFIG_MAP, "c").await;
    told(&world).await;
    assert!(world.get(CONFIG_MAP, "c").await.is_null(), "its parent has not run");
    let parent = world.get(RECIPE, "r").await;
    assert_eq!(condition(&parent, "Ready")["message"], "the oven is cold");
    world.apply(RECIPE, tasting("best")).await;
    world.until(CONFIG_MAP, "c", "the child again", Value::is_object).await;
    assert_eq!(world.until_ready(RECIPE, "r").await["status"]["taste"], "best");
    operators.stop().await;
}

#[operetta_harness::test]
async fn the_deletion_of_a_parent_cuts_its_backoff_short() {
    let world = World::new().await;
    let cleaner = Cleaner::default();
    let handler = cleaner.clone();
    let operators = world.start(|builder| builder.register(patient(), handler)).await;
    world.create(RECIPE, acting("r", "fail")).await;
    until_failed(&world, &operators, "r").await;
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
    assert_eq!(cleaner.finalized(&world, "r"), 1);
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_handler_that_names_a_time_is_asked_again_then_although_nothing_changed() {
    let world = World::new().await;
    let calls = AtomicU64::new(0);
    let handler = move |request: &SyncRequest| match calls.fetch_add(1, Ordering::Relaxed) {
        0..3 => Err(rising(Duration::from_millis(100))),
        _ => recipe::sync(request),
    };
    let operators = world.start(|builder| builder.register(patient(), handler)).await;
    world.create(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    world.until_ready(RECIPE, "r").await;
    assert!(world.get(CONFIG_MAP, "c").await.is_object());
    operators.stop().await;
}

fn rising(delay: Duration) -> Error {
    RetryAfter { message: "the dough is rising".to_owned(), delay }.into()
}

/// The parent `r` fails with this error until its spec says otherwise: it is let alone until then,
/// while another one is tried again and again.
async fn rests(error: fn() -> Error, condition_type: &str) {
    let world = World::new().await;
    let handler = move |request: &SyncRequest| {
        let act = &request.parent.field("spec").unwrap_or_default()["act"];
        if act == "rest" { Err(error()) } else { recipe::sync(request) }
    };
    let operators = world.start(|builder| builder.register(recipe::config("cook"), handler)).await;
    world.apply(RECIPE, recipe("r", &[])).await;
    world.until_ready(RECIPE, "r").await;
    operators.until_synced("cook", &world.namespace, "r").await;
    let runs = operators.runs("cook", &world.namespace, "r");
    let failing = world.apply(RECIPE, acting("r", "rest")).await;
    until_failed(&world, &operators, "r").await;
    let parent = world.get(RECIPE, "r").await;
    let (said, generation) =
        (condition(&parent, condition_type), &failing["metadata"]["generation"]);
    assert_eq!(said["observedGeneration"], *generation, "{condition_type}: {parent}");
    world.create(RECIPE, acting("other", "fail")).await;
    operators.until_reconciles("cook", &world.namespace, "other", 4).await;
    assert_eq!(operators.runs("cook", &world.namespace, "r"), runs + 1);
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    world.until(CONFIG_MAP, "c", "the child", Value::is_object).await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_handler_that_names_a_long_time_is_not_asked_before_unless_the_spec_changes() {
    rests(|| rising(NEVER), "Reconciling").await;
}

#[operetta_harness::test]
async fn a_permanent_error_is_not_tried_again_unless_the_spec_changes() {
    rests(|| Permanent("no such dish".to_owned()).into(), "Stalled").await;
}
