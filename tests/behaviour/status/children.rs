//! One entry per child in the status of the parent, if the operator is configured so.

use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, acting, config_map, recipe},
    world::{CONFIG_MAP, Kind, Operators, World, condition},
};

async fn start(world: &World) -> Operators {
    let config = recipe::config("cook").with_child_status();
    world.start(|builder| builder.register(config, recipe::handler())).await
}

/// A child that every server refuses because of an invalid key.
fn refused(name: &str) -> Value {
    config_map(name, json!({"no such key": ""}))
}

/// Name and state of each child, as `name:state`.
fn states(parent: &Value) -> Vec<String> {
    let children = parent["status"]["children"].as_array().into_iter().flatten();
    let state = |child: &Value| {
        format!("{}:{}", child["name"].as_str().unwrap(), child["state"].as_str().unwrap())
    };
    children.map(state).collect()
}

fn entry<'a>(parent: &'a Value, name: &str) -> &'a Value {
    let mut children = parent["status"]["children"].as_array().unwrap().iter();
    children.find(|child| child["name"] == name).unwrap()
}

async fn until_states(world: &World, name: &str, expected: &[&str]) -> Value {
    let is_so = |parent: &Value| states(parent) == expected;
    world.until(RECIPE, name, &format!("{expected:?}"), is_so).await
}

async fn annotate(world: &World, kind: Kind, name: &str, annotations: Value) {
    world.patch(kind, name, json!({"metadata": {"annotations": annotations}})).await;
}

#[operetta_harness::test]
async fn each_child_has_a_state_and_a_message_in_the_status() {
    let world = World::new().await;
    let operators = start(&world).await;
    world.create(CONFIG_MAP, config_map("theirs", json!({}))).await;
    let well = config_map("well", json!({}));
    let children = [refused("bad"), config_map("theirs", json!({"a": "b"})), well.clone()];
    world.apply(RECIPE, recipe("r", &children)).await;
    let parent = until_states(&world, "r", &["bad:Failed", "theirs:Conflict", "well:Synced"]).await;
    let message = |name: &str| entry(&parent, name)["message"].as_str().unwrap_or_default();
    assert!(message("bad").contains("no such key"), "{}", message("bad"));
    assert!(
        message("theirs").starts_with("already exists and is not owned by"),
        "{}",
        message("theirs")
    );
    let expected = json!({"apiVersion": "v1", "kind": "ConfigMap", "namespace": world.namespace,
        "name": "well", "state": "Synced"});
    assert_eq!(*entry(&parent, "well"), expected);

    world.apply(RECIPE, recipe("r", std::slice::from_ref(&well))).await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(states(&parent), ["well:Synced"]);

    // A failed handler does not change the states.
    world.apply(RECIPE, acting("r", "permanent")).await;
    let has_failed = |parent: &Value| condition(parent, "Ready")["reason"] == "HandlerFailed";
    let parent = world.until(RECIPE, "r", "the failure", has_failed).await;
    assert_eq!(states(&parent), ["well:Synced"], "no child was modified");
    operators.stop().await;
}

#[operetta_harness::test]
async fn terminating_and_held_children_are_reported() {
    let world = World::new().await;
    let operators = start(&world).await;
    let [a, b] = ["a", "b"].map(|name| config_map(name, json!({})));
    world.apply(RECIPE, recipe("r", &[a.clone(), b])).await;
    world.until_ready(RECIPE, "r").await;
    let slow = json!({"metadata": {"finalizers": ["test.operetta.dev/slow"]}});
    world.patch(CONFIG_MAP, "b", slow).await;
    world.apply(RECIPE, recipe("r", std::slice::from_ref(&a))).await;
    let parent = until_states(&world, "r", &["a:Synced", "b:Terminating"]).await;
    let held = "it is being deleted, which waits for test.operetta.dev/slow";
    assert_eq!(entry(&parent, "b")["message"], held);
    world.patch(CONFIG_MAP, "b", json!({"metadata": {"finalizers": null}})).await;
    until_states(&world, "r", &["a:Synced"]).await;

    annotate(&world, RECIPE, "r", json!({"operetta.dev/paused": "true"})).await;
    world.apply(RECIPE, recipe("r", &[a, config_map("new", json!({}))])).await;
    let parent = until_states(&world, "r", &["a:Synced", "new:Held"]).await;
    let message = entry(&parent, "new")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("no longer paused"), "{message}");
    annotate(&world, RECIPE, "r", json!({"operetta.dev/paused": null})).await;
    until_states(&world, "r", &["a:Synced", "new:Synced"]).await;
    operators.stop().await;
}
