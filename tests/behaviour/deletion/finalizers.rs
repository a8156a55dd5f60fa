//! A handler that asks for a finalizer cleans up before its parent goes.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    cleaner::{Answer, Cleaner},
    recipe::{self, RECIPE, config_map, recipe},
    told::Trouble,
    world::{CONFIG_MAP, Operators, World, condition},
};

#[operetta_harness::test]
async fn a_parent_goes_only_after_its_handler_has_cleaned_up() {
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
    let says_why = |parent: &Value| condition(parent, "Ready")["reason"] == "HandlerFailed";
    world.until(RECIPE, "r", "why it does not go", says_why).await;
    cleaner.answers(Answer::NotYet);
    cleaner.until_asked(&world, "r", 4).await;
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

/// A parent `r` with a child `c` whose handler gets into trouble when it is asked to clean up.
struct Leaving {
    world: World,
    operators: Operators,
    cleaner: Cleaner,
    /// The child as it was before.
    child: Value,
}

impl Leaving {
    /// The parent is deleted, and what came of it is said everywhere.
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
        let trouble = Trouble::ahead(&world, &operators, "cook", reason).await;
        world.delete(RECIPE, "r").await;
        trouble.until_told("r", words).await;
        let leaving = Self { world, operators, cleaner, child };
        leaving.nothing_has_gone().await;
        leaving
    }

    async fn nothing_has_gone(&self) {
        let parent = self.world.get(RECIPE, "r").await;
        assert_eq!(parent["metadata"]["finalizers"], json!(["operetta.dev/cook"]), "{parent}");
        assert_eq!(self.world.get(CONFIG_MAP, "c").await, self.child, "the child stays as it is");
    }

    /// Once the handler says in time that it is done, the parent goes.
    async fn goes_when_done(self) {
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
async fn a_handler_that_panics_when_it_is_to_clean_up_keeps_the_parent_until_it_has() {
    let leaving = Leaving::after(Answer::Panics, "HandlerPanicked", "the drain bursts").await;
    leaving.cleaner.until_asked(&leaving.world, "r", 3).await;
    leaving.nothing_has_gone().await;
    leaving.goes_when_done().await;
}

/// It does not wait for ever, and nobody knows what it has done since it was given up on.
#[operetta_harness::test]
async fn a_handler_that_has_cleaned_up_past_its_deadline_is_asked_again() {
    let words = "has not returned within 0.3 s";
    let leaving = Leaving::after(Answer::Hangs, "HandlerTimeout", words).await;
    // The call that hangs says now that it is done; those after it, in time, that they are not.
    leaving.cleaner.answers(Answer::NotYet);
    leaving.cleaner.until_asked(&leaving.world, "r", 3).await;
    leaving.nothing_has_gone().await;
    leaving.goes_when_done().await;
}

#[operetta_harness::test]
async fn a_handler_without_finalizer_puts_none_on_its_parents_and_takes_an_old_one_off() {
    let world = World::new().await;
    let operators = world.start(|builder| builder.register(recipe::config("cook"), recipe::sync));
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
