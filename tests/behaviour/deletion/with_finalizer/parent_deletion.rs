//! The deletion of a parent with such children: it waits until they are deleted.

use super::*;

/// Keeps a config map of the other namespace terminating.
async fn add_finalizer(worlds: &Worlds, name: &str) {
    let finalizers = json!(["test.operetta.dev/slow"]);
    worlds.patch_there(name, json!({"metadata": {"finalizers": finalizers}})).await;
}

async fn remove_finalizer(worlds: &Worlds, name: &str) {
    worlds.patch_there(name, json!({"metadata": {"finalizers": null}})).await;
}

fn waits(parent: &Value) -> bool {
    let ready = condition(parent, "Ready");
    let held = "it is being deleted, which waits for test.operetta.dev/slow";
    ready["reason"] == "Waiting" && ready["message"].as_str().unwrap().contains(held)
}

fn is_held(parent: &Value) -> bool {
    parent["metadata"]["finalizers"].as_array().is_some_and(|held| held.contains(&json!(FINALIZER)))
}

#[operetta_harness::test(server)]
async fn the_parent_waits_for_a_terminating_child_also_after_a_restart() {
    let worlds = Worlds::new().await;
    let world = &worlds.world;
    let operators = worlds.start().await;
    let other = world.create(CONFIG_MAP, config_map("other", json!({}))).await;
    let mut also_of_another = config_map("both", json!({}));
    also_of_another["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1",
        "kind": "ConfigMap", "name": "other", "uid": other["metadata"]["uid"]}]);
    let children = [worlds.foreign("c", ""), also_of_another, config_map("near", json!({}))];
    world.apply(RECIPE, recipe("slow", &children)).await;
    world.apply(RECIPE, recipe("later", &[worlds.foreign("d", "")])).await;
    world.until_ready(RECIPE, "slow").await;
    world.until_ready(RECIPE, "later").await;
    add_finalizer(&worlds, "c").await;
    world.delete(RECIPE, "slow").await;
    world.until(RECIPE, "slow", "that it waits", |parent| waits(parent) && is_held(parent)).await;
    world.until(CONFIG_MAP, "near", "the end of what only it owns", is_gone).await;
    assert!(!is_gone(&world.get(CONFIG_MAP, "both").await), "it has another owner");
    operators.stop().await;

    // Without an operator one child is removed, and another parent is deleted.
    remove_finalizer(&worlds, "c").await;
    world.delete(RECIPE, "later").await;
    let parent = world.get(RECIPE, "slow").await;
    assert!(is_held(&parent) && !is_gone(&worlds.there("d").await));
    let operators = worlds.start().await;
    for name in ["slow", "later"] {
        world.until(RECIPE, name, "its end", is_gone).await;
    }
    assert!(is_gone(&worlds.there("c").await) && is_gone(&worlds.there("d").await));
    operators.stop().await;
    worlds.end().await;
}
