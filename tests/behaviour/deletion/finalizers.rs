//! A handler with a finalizer cleans up before its parent is deleted.

use serde_json::{Value, json};

use crate::{
    cleaner::{Answer, Cleaner},
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, World, condition},
};

#[operetta_harness::test(server)]
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
