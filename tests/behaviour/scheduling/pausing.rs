//! A user pauses and resumes a parent.

use serde_json::{Value, json};

use crate::{
    cleaner::Cleaner,
    recipe::{self, RECIPE, acting, config_map, recipe},
    world::{CONFIG_MAP, Operators, World, condition, eventually},
};

fn paused(name: &str, children: &[Value]) -> Value {
    annotated(recipe(name, children), "true")
}

fn annotated(mut parent: Value, value: &str) -> Value {
    parent["metadata"]["annotations"] = json!({"operetta.dev/paused": value});
    parent
}

async fn start(world: &World) -> Operators {
    world.start(|builder| builder.register(recipe::config("cook"), recipe::handler())).await
}

/// Waits until a parent reports that it is paused, with this about pending writes.
async fn until_paused(world: &World, name: &str, pending: &str) -> Value {
    let is_reported = |parent: &Value| {
        let paused = condition(parent, "Paused");
        let generation = &parent["metadata"]["generation"];
        paused["message"].as_str().unwrap_or_default().contains(pending)
            && paused["observedGeneration"] == *generation
    };
    world.until(RECIPE, name, "the condition Paused", is_reported).await
}

#[operetta_harness::test]
async fn no_child_of_a_paused_parent_is_created_changed_or_deleted() {
    let world = World::new().await;
    let operators = start(&world).await;
    let kept = config_map("kept", json!({"salt": "little"}));
    let dropped = config_map("dropped", json!({}));
    world.apply(RECIPE, recipe("r", &[kept, dropped])).await;
    world.until_ready(RECIPE, "r").await;
    let salted = [config_map("kept", json!({"salt": "much"})), config_map("new", json!({}))];
    world.apply(RECIPE, paused("r", &salted)).await;
    let parent = until_paused(&world, "r", "3 writes are pending").await;
    let ready = condition(&parent, "Ready");
    assert_eq!((&ready["status"], &ready["reason"]), (&json!("False"), &json!("Paused")));
    for name in ["kept", "new", "dropped"] {
        assert!(ready["message"].as_str().unwrap().contains(&format!("/{name}: its")), "{ready}");
    }
    world.delete(CONFIG_MAP, "kept").await;
    operators.settled().await;
    assert_eq!(world.get(CONFIG_MAP, "kept").await, Value::Null, "not repaired");
    assert_eq!(world.get(CONFIG_MAP, "new").await, Value::Null);
    assert!(world.get(CONFIG_MAP, "dropped").await["metadata"]["uid"].is_string());
    let phase = || async {
        let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
        let (_, body) = operators.http(&path).await;
        serde_json::from_str::<Value>(&body).unwrap_or_default()["phase"].clone()
    };
    eventually("the phase over HTTP", phase, |phase| *phase == "paused").await;
    // Without the annotation it is reconciled at once.
    world.apply(RECIPE, recipe("r", &salted)).await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(condition(&parent, "Paused"), Value::Null);
    assert_eq!(world.get(CONFIG_MAP, "kept").await["data"]["salt"], "much");
    assert!(world.get(CONFIG_MAP, "new").await["metadata"]["uid"].is_string());
    assert_eq!(world.get(CONFIG_MAP, "dropped").await, Value::Null);
    operators.stop().await;
}

#[operetta_harness::test]
async fn the_status_of_a_paused_parent_is_updated() {
    let world = World::new().await;
    let operators = start(&world).await;
    let mut parent = paused("r", &[]);
    parent["spec"]["status"] = json!({"taste": "bland"});
    world.apply(RECIPE, parent.clone()).await;
    let shown = until_paused(&world, "r", "no write is pending").await;
    assert_eq!(shown["status"]["taste"], "bland");
    assert_eq!(condition(&shown, "Ready")["status"], "True", "everything is up to date");
    parent["spec"]["status"] = json!({"taste": "salty"});
    world.apply(RECIPE, parent).await;
    let follows = |parent: &Value| parent["status"]["taste"] == "salty";
    world.until(RECIPE, "r", "the new status", follows).await;
    // Failures are reported together with the pause.
    world.apply(RECIPE, annotated(acting("r", "permanent"), "true")).await;
    let fails = |parent: &Value| condition(parent, "Ready")["reason"] == "HandlerFailed";
    let shown = world.until(RECIPE, "r", "the failure", fails).await;
    assert_eq!(condition(&shown, "Paused")["status"], "True");
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_parent_that_was_paused_before_the_start_stays_paused_and_other_values_do_not_pause() {
    let world = World::new().await;
    world.create(RECIPE, paused("paused", &[config_map("a", json!({}))])).await;
    world.create(RECIPE, annotated(recipe("not", &[config_map("b", json!({}))]), "yes")).await;
    let operators = start(&world).await;
    world.until_ready(RECIPE, "not").await;
    until_paused(&world, "paused", "1 write is pending").await;
    operators.settled().await;
    assert_eq!(world.get(CONFIG_MAP, "a").await, Value::Null);
    assert!(world.get(CONFIG_MAP, "b").await["metadata"]["uid"].is_string());
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_paused_parent_that_is_deleted_is_finalized_when_it_is_no_longer_paused() {
    let world = World::new().await;
    let cleaner = Cleaner::default();
    let handler = cleaner.clone();
    let operators = world.start(|builder| builder.register(recipe::config("cook"), handler)).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    world.until_ready(RECIPE, "r").await;
    world.apply(RECIPE, paused("r", &[config_map("c", json!({}))])).await;
    until_paused(&world, "r", "no write is pending").await;
    world.delete(RECIPE, "r").await;
    let reports_why = |parent: &Value| {
        let message = condition(parent, "Paused")["message"].clone();
        message.as_str().unwrap_or_default().contains("not finalized")
    };
    world.until(RECIPE, "r", "why it stays", reports_why).await;
    operators.settled().await;
    assert_eq!(cleaner.finalized(&world, "r"), 0);
    assert!(world.get(CONFIG_MAP, "c").await["metadata"]["uid"].is_string());
    world.patch(RECIPE, "r", json!({"metadata": {"annotations": null}})).await;
    world.until(RECIPE, "r", "its end", Value::is_null).await;
    assert_eq!(cleaner.finalized(&world, "r"), 1, "{cleaner:?}");
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_parent_that_was_always_paused_is_deleted_without_a_finalizer() {
    let world = World::new().await;
    let cleaner = Cleaner::default();
    let handler = cleaner.clone();
    let operators = world.start(|builder| builder.register(recipe::config("cook"), handler)).await;
    world.create(RECIPE, paused("r", &[config_map("c", json!({}))])).await;
    let parent = until_paused(&world, "r", "1 write is pending").await;
    assert_eq!(parent["metadata"]["finalizers"], Value::Null, "not even a finalizer is written");
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "its end", Value::is_null).await;
    assert_eq!(cleaner.finalized(&world, "r"), 0);
    operators.stop().await;
}
