//! Restarts with another configuration or handler, and two versions of a program that overlap.

use std::time::Duration;

use operetta::{
    object::ObjectKey,
    operator::{AnyHandler, IntoHandler, Predecessor},
    prelude::*,
    testkit::internals::{history::NextWake, schedule::WakeReason},
};
use serde_json::{Value, json};

use crate::{
    cleaner::Cleaner,
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, Operators, World, condition, eventually, is_ready},
};

/// Flapping has ended after two seconds.
fn cook() -> OperatorConfig {
    recipe::config("cook").with_error_backoff(Duration::from_millis(50), Duration::from_secs(1))
}

/// A program whose operator `cook` has added its finalizer.
fn finalizing_cook() -> Predecessor {
    let finalizers = vec!["operetta.dev/cook".to_owned()];
    Predecessor { finalizers, ..Predecessor::default() }
}

async fn until_slowed(world: &World, operators: &Operators) {
    let key = ObjectKey::namespaced(&world.namespace, "r");
    let board = operators.running().board();
    let next = || async { board.parent("cook", &key).and_then(|parent| parent.next_wake) };
    let is_slowed =
        |next: &Option<NextWake>| next.as_ref().is_some_and(|next| next.why == WakeReason::Slowed);
    eventually("slower tries", next, is_slowed).await;
}

async fn until_calm(world: &World) {
    let is_calm = |parent: &Value| is_ready(parent) && condition(parent, "Flapping").is_null();
    world.until(RECIPE, "r", "the condition Flapping gone", is_calm).await;
}

fn is_free(parent: &Value) -> bool {
    parent["metadata"]["finalizers"].is_null()
}

/// Runs both as in a rolling update, but for longer.
async fn overlap(old: AnyHandler, new: AnyHandler, is_free_in_the_end: bool) {
    let world = World::new().await;
    let old = world.start(|all| all.register(cook(), old)).await;
    world.create(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    world.until_ready(RECIPE, "r").await;
    let new = world.start(|all| all.register(cook(), new)).await;
    let is_reported = |parent: &Value| {
        let flapping = condition(parent, "Flapping");
        let message = flapping["message"].as_str().unwrap_or_default();
        flapping["reason"] == "FightingOverFinalizer" && message.contains(".metadata.finalizers")
    };
    world.until(RECIPE, "r", "the condition Flapping", is_reported).await;
    until_slowed(&world, &new).await;
    old.stop().await;
    let is_done = |parent: &Value| is_free(parent) == is_free_in_the_end;
    world.until(RECIPE, "r", "the finalizer as the new handler configures it", is_done).await;
    until_calm(&world).await;
    assert!(is_done(&world.get(RECIPE, "r").await));
    assert!(world.get(CONFIG_MAP, "c").await.is_object());
    new.stop().await;
}

#[operetta_harness::test]
async fn a_finalizer_that_the_new_process_removes_and_the_old_one_adds_is_reported_as_flapping() {
    overlap(Cleaner::default().into_handler(), recipe::sync.into_handler(), true).await;
}

#[operetta_harness::test]
async fn a_renamed_operator_keeps_the_desired_children_and_removes_the_old_finalizer() {
    let world = World::new().await;
    let old = world.start(|all| all.register(cook(), Cleaner::default())).await;
    let child = |name| config_map(name, json!({"salt": "much"}));
    world.apply(RECIPE, recipe("r", &[child("stays"), child("left")])).await;
    world.until_ready(RECIPE, "r").await;
    let before = world.get(CONFIG_MAP, "stays").await;
    old.stop().await;
    world.apply(RECIPE, recipe("r", &[child("stays")])).await;
    let chef = recipe::config("chef").succeeding(finalizing_cook());
    let cleaner = Cleaner::default();
    let new = world.start(|all| all.register(chef, cleaner.clone())).await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(parent["metadata"]["finalizers"], json!(["operetta.dev/chef"]));
    let after = world.get(CONFIG_MAP, "stays").await;
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(after["metadata"]["labels"]["app.kubernetes.io/managed-by"], "chef");
    assert!(world.get(CONFIG_MAP, "left").await.is_object(), "it is not deleted");
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
    assert_eq!(cleaner.finalized(&world, "r"), 1, "{cleaner:?}");
    new.stop().await;
}

/// Nothing else would remove the finalizer of the old operator.
#[operetta_harness::test]
async fn a_renamed_operator_removes_the_old_finalizer_of_a_deselected_parent() {
    let world = World::new().await;
    let old = cook().with_parent_selector("tier=gold");
    let old = world.start(|all| all.register(old, Cleaner::default())).await;
    let mut gold = recipe("r", &[]);
    gold["metadata"]["labels"] = json!({"tier": "gold"});
    world.apply(RECIPE, gold).await;
    world.until_ready(RECIPE, "r").await;
    old.stop().await;
    world.patch(RECIPE, "r", json!({"metadata": {"labels": {"tier": null}}})).await;
    let chef = recipe::config("chef").with_parent_selector("tier=gold");
    let chef = chef.succeeding(finalizing_cook());
    // An operator without its own finalizer also watches deselected parents.
    let new = world.start(|all| all.register(chef, recipe::handler())).await;
    let mut gold = recipe("later", &[]);
    gold["metadata"]["labels"] = json!({"tier": "gold"});
    world.apply(RECIPE, gold).await;
    world.until_ready(RECIPE, "later").await;
    assert!(!is_free(&world.get(RECIPE, "r").await), "it may be the parent of another operator");
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
    new.stop().await;
}

#[operetta_harness::test]
async fn children_of_a_type_that_is_no_longer_declared_stay() {
    let world = World::new().await;
    let old = world.start(|all| all.register(cook(), recipe::handler())).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    old.stop().await;
    world.apply(RECIPE, recipe("r", &[])).await;
    let all = cook();
    let kept = all.child_types().iter().filter(|child| child.ty.kind() != "ConfigMap").cloned();
    let nothing = OperatorConfig::new("cook", all.parent().clone());
    let config = kept.fold(nothing, |config, child| config.child_of_type(child.ty, child.config));
    let new = world.start(|all| all.register(config, recipe::handler())).await;
    world.until_ready(RECIPE, "r").await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, child);
    new.stop().await;
    // With the type declared again the child is known and undesired.
    let new = world.start(|all| all.register(cook(), recipe::handler())).await;
    world.until(CONFIG_MAP, "c", "the child gone", Value::is_null).await;
    new.stop().await;
}
