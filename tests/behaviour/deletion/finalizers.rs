//! A handler with a finalizer cleans up before its parent is deleted.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    cleaner::{Answer, Cleaner},
    recipe::{self, RECIPE, config_map, recipe},
    reported::ExpectedFailure,
    world::{CONFIG_MAP, Operators, World, condition},
};

#[operetta_harness::test]
async fn a_parent_is_deleted_only_after_its_handler_has_finalized() {
    let world = World::new().await;
    let cleaner = Cleaner::default();
    let handler = cleaner.clone();
    let operators = world.start(|builder| builder.register(recipe::config("cook"), handler)).await;
    let mut parent = recipe("r", &[config_map("c", json!({}))]);
    parent["metadata"]["finalizers"] = json!(["test.operetta.dev/other"]);
    world.create(RECIPE, parent).await;
    let parent = world.until_ready(RECIPE, "r").await;
    let finalizers = json!(["test.operetta.dev/other", "operetta.dev/cook"]);
    assert_eq!(parent["metadata"]["finalizers"], finalizers);
    cleaner.answers(Answer::Fails);
    world.delete(RECIPE, "r").await;
    let reports_why = |parent: &Value| condition(parent, "Ready")["reason"] == "HandlerFailed";
    world.until(RECIPE, "r", "why it does not go", reports_why).await;
    cleaner.answers(Answer::NotYet);
    cleaner.until_called(&world, "r", 4).await;
    assert_eq!(cleaner.children_seen(&world, "r"), 1, "children are still visible");
    assert!(world.get(CONFIG_MAP, "c").await.is_object(), "and still there");
    cleaner.answers(Answer::Done);
    let only_other =
        |parent: &Value| parent["metadata"]["finalizers"] == json!(["test.operetta.dev/other"]);
    world.until(RECIPE, "r", "only the finalizer of others", only_other).await;
    world.patch(RECIPE, "r", json!({"metadata": {"finalizers": null}})).await;
    world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
    assert_eq!(cleaner.finalized(&world, "r"), 1, "{cleaner:?}");
    operators.stop().await;
}

/// A deleted parent `r` with a child `c` whose handler fails in finalize.
struct DeletedParent {
    world: World,
    operators: Operators,
    cleaner: Cleaner,
    /// The child before the deletion.
    child: Value,
}

impl DeletedParent {
    /// Deletes the parent and waits until the failure is reported in all places.
    async fn after(answer: Answer, reason: &str, words: &str) -> Self {
        let world = World::new().await;
        let config = recipe::config("cook").with_handler_deadline(Duration::from_millis(300));
        let cleaner = Cleaner::default();
        let handler = cleaner.clone();
        let operators = world.start(|builder| builder.register(config, handler)).await;
        world.create(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
        world.until_ready(RECIPE, "r").await;
        let child = world.get(CONFIG_MAP, "c").await;
        cleaner.answers(answer);
        let failure = ExpectedFailure::before(&world, &operators, "cook", reason).await;
        world.delete(RECIPE, "r").await;
        failure.until_reported("r", words).await;
        let parent = Self { world, operators, cleaner, child };
        parent.assert_nothing_deleted().await;
        parent
    }

    async fn assert_nothing_deleted(&self) {
        let parent = self.world.get(RECIPE, "r").await;
        assert_eq!(parent["metadata"]["finalizers"], json!(["operetta.dev/cook"]), "{parent}");
        assert_eq!(self.world.get(CONFIG_MAP, "c").await, self.child);
    }

    /// Asserts that the parent is deleted once finalize is done in time.
    async fn until_deleted_when_done(self) {
        let Self { world, operators, cleaner, .. } = self;
        assert_eq!(cleaner.finalized(&world, "r"), 0, "{cleaner:?}");
        cleaner.answers(Answer::Done);
        world.until(RECIPE, "r", "the parent gone", Value::is_null).await;
        world.until(CONFIG_MAP, "c", "its child collected", Value::is_null).await;
        assert_eq!(cleaner.finalized(&world, "r"), 1, "{cleaner:?}");
        operators.stop().await;
    }
}

#[operetta_harness::test]
async fn a_panic_in_finalize_keeps_the_parent_until_finalize_succeeds() {
    let parent = DeletedParent::after(Answer::Panics, "HandlerPanicked", "the drain bursts").await;
    parent.cleaner.until_called(&parent.world, "r", 3).await;
    parent.assert_nothing_deleted().await;
    parent.until_deleted_when_done().await;
}

/// The result of an overdue call is unknown.
#[operetta_harness::test]
async fn a_handler_that_finalizes_past_its_deadline_is_called_again() {
    let words = "has not returned within 0.3 s";
    let parent = DeletedParent::after(Answer::Hangs, "HandlerTimeout", words).await;
    // The overdue call now returns that it is done; later calls return in time that they are not.
    parent.cleaner.answers(Answer::NotYet);
    parent.cleaner.until_called(&parent.world, "r", 3).await;
    parent.assert_nothing_deleted().await;
    parent.until_deleted_when_done().await;
}

#[operetta_harness::test]
async fn a_handler_without_finalizer_puts_none_on_its_parents_and_takes_an_old_one_off() {
    let world = World::new().await;
    let operators =
        world.start(|builder| builder.register(recipe::config("cook"), recipe::handler()));
    let operators = operators.await;
    world.create(RECIPE, recipe("new", &[])).await;
    let mut old = recipe("old", &[]);
    old["metadata"]["finalizers"] = json!(["operetta.dev/cook"]);
    world.create(RECIPE, old).await;
    for name in ["new", "old"] {
        let parent = world.until_ready(RECIPE, name).await;
        assert_eq!(parent["metadata"]["finalizers"], Value::Null, "{name}");
    }
    operators.stop().await;
}
