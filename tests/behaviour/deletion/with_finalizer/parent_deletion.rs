//! The deletion of a parent with such children: it waits until they are deleted.

use kube::api::PropagationPolicy;
use operetta::operator::{Allowance, DeletionLimit};

use super::*;
use crate::{
    cleaner::{Answer, Cleaner},
    world::is_ready,
};

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

#[operetta_harness::test]
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

#[operetta_harness::test]
async fn orphaned_children_stay_while_the_parent_waits_for_others() {
    let worlds = Worlds::new().await;
    let world = &worlds.world;
    let operators = worlds.start().await;
    let children = [worlds.foreign("c", ""), config_map("near", json!({}))];
    world.apply(RECIPE, recipe("r", &children)).await;
    world.until_ready(RECIPE, "r").await;
    add_finalizer(&worlds, "c").await;
    let policy = Some(PropagationPolicy::Orphan);
    let params = DeleteParams { propagation_policy: policy, ..DeleteParams::default() };
    world.api(RECIPE).delete("r", &params).await.unwrap();
    let has_no_owner = |near: &Value| near["metadata"]["ownerReferences"].is_null();
    let only_ours = |parent: &Value| parent["metadata"]["finalizers"] == json!([FINALIZER]);
    world.until(RECIPE, "r", "the orphaning done", only_ours).await;
    world.until(RECIPE, "r", "that it waits", waits).await;
    remove_finalizer(&worlds, "c").await;
    world.until(RECIPE, "r", "its end", is_gone).await;
    let near = world.get(CONFIG_MAP, "near").await;
    assert!(near.is_object() && has_no_owner(&near), "{near}");
    operators.stop().await;
    worlds.end().await;
}

#[operetta_harness::test]
async fn the_deletion_limit_does_not_hold_the_deletion_of_a_parent() {
    let worlds = Worlds::new().await;
    let world = &worlds.world;
    let none = Allowance { percent: 0, at_least: 0 };
    let limited = config().with_deletion_limit(DeletionLimit { reconcile: none, minute: none });
    let operators = world.start(|builder| builder.register(limited, recipe::handler())).await;
    let names = ["a", "b", "c", "d"];
    let children = names.map(|name| worlds.foreign(name, ""));
    world.apply(RECIPE, recipe("r", &children)).await;
    world.until_ready(RECIPE, "r").await;
    world.apply(RECIPE, recipe("r", &children[..1])).await;
    let is_asking = |parent: &Value| condition(parent, "DeletionsHeld")["status"] == "True";
    world.until(RECIPE, "r", "that deletions are held", is_asking).await;
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "its end", is_gone).await;
    for name in names {
        assert!(is_gone(&worlds.there(name).await), "{name}");
    }
    operators.stop().await;
    worlds.end().await;
}

#[operetta_harness::test]
async fn no_such_child_is_created_before_the_finalizer_of_the_parent() {
    let worlds = Worlds::new().await;
    let (world, plan) = (&worlds.world, FaultPlan::new());
    let forbidden = Rule::new(Fault::refuse(403)).verb("patch").resource("recipes").name("r");
    let forbidden = plan.add(forbidden.namespace(&world.namespace));
    let connector = world.cluster.connector_through(&plan);
    let config = config().with_error_backoff(
        std::time::Duration::from_millis(100),
        std::time::Duration::from_secs(1),
    );
    let operators =
        world.start_over(connector, |builder| builder.register(config, recipe::handler())).await;
    world.apply(RECIPE, recipe("r", &[worlds.foreign("c", "")])).await;
    let is_reported = |parent: &Value| {
        let message = condition(parent, "Ready")["message"].clone();
        message.as_str().is_some_and(|message| message.contains("the finalizer"))
    };
    world.until(RECIPE, "r", "why nothing happens", is_reported).await;
    // The first reconcile has ended.
    eventually("another try", || async { forbidden.hits() }, |hits| *hits > 1).await;
    assert!(is_gone(&worlds.there("c").await));
    forbidden.end();
    world.until(RECIPE, "r", "all well", |parent| is_ready(parent) && is_held(parent)).await;
    assert!(!is_gone(&worlds.there("c").await));
    world.delete(RECIPE, "r").await;
    world.until(RECIPE, "r", "its end", is_gone).await;
    operators.stop().await;
    worlds.end().await;
}

#[operetta_harness::test]
async fn of_two_parents_with_the_same_child_only_the_first_owns_it() {
    let worlds = Worlds::new().await;
    let world = &worlds.world;
    let operators = worlds.start().await;
    world.apply(RECIPE, recipe("first", &[worlds.role("get")])).await;
    world.until_ready(RECIPE, "first").await;
    let before = world.get(CLUSTER_ROLE, &worlds.role_name()).await;
    world.apply(RECIPE, recipe("second", &[worlds.role("list")])).await;
    let is_conflict = |parent: &Value| condition(parent, "Ready")["reason"] == "Conflict";
    world.until(RECIPE, "second", "the conflict", is_conflict).await;
    world.delete(RECIPE, "second").await;
    world.until(RECIPE, "second", "its end", is_gone).await;
    assert_eq!(world.get(CLUSTER_ROLE, &worlds.role_name()).await, before);
    world.delete(RECIPE, "first").await;
    world.until(RECIPE, "first", "its end", is_gone).await;
    assert!(is_gone(&world.get(CLUSTER_ROLE, &worlds.role_name()).await));
    operators.stop().await;
    worlds.end().await;
}

#[operetta_harness::test]
async fn the_handler_finalizes_before_the_children_are_deleted() {
    let worlds = Worlds::new().await;
    let (world, cleaner) = (&worlds.world, Cleaner::default());
    cleaner.answers(Answer::Fails);
    let handler = cleaner.clone();
    let quick = std::time::Duration::from_millis(100);
    let config = config().with_error_backoff(quick, quick);
    let operators = world.start(|builder| builder.register(config, handler)).await;
    let children = [worlds.role("get"), worlds.foreign("c", "")];
    world.apply(RECIPE, recipe("r", &children)).await;
    world.until_ready(RECIPE, "r").await;
    world.delete(RECIPE, "r").await;
    let has_failed = |parent: &Value| condition(parent, "Ready")["reason"] == "HandlerFailed";
    world.until(RECIPE, "r", "that the handler fails", has_failed).await;
    assert!(!is_gone(&worlds.there("c").await), "nothing is deleted because something failed");
    assert_eq!(cleaner.children_seen(world, "r"), children.len());
    cleaner.answers(Answer::Done);
    world.until(RECIPE, "r", "its end", is_gone).await;
    assert!(is_gone(&worlds.there("c").await));
    assert!(is_gone(&world.get(CLUSTER_ROLE, &worlds.role_name()).await));
    operators.stop().await;
    worlds.end().await;
}

#[operetta_harness::test]
async fn a_type_that_is_not_served_for_a_moment_keeps_the_parent_until_its_children_are_deleted() {
    let worlds = Worlds::new().await;
    let (world, plan) = (&worlds.world, FaultPlan::new());
    let connector = world.cluster.connector_through(&plan);
    let operators =
        world.start_over(connector, |builder| builder.register(config(), recipe::handler())).await;
    world.apply(RECIPE, recipe("r", &[worlds.foreign("c", "")])).await;
    world.until_ready(RECIPE, "r").await;
    let unserved = Rule::new(Fault::refuse(404)).verb("list").resource("configmaps");
    let unserved = plan.add(unserved);
    world.delete(RECIPE, "r").await;
    let is_reported = |parent: &Value| {
        let message = condition(parent, "Ready")["message"].clone();
        message.as_str().is_some_and(|message| message.contains("404"))
    };
    world.until(RECIPE, "r", "why it does not go", is_reported).await;
    assert!(!is_gone(&worlds.there("c").await));
    unserved.end();
    world.until(RECIPE, "r", "its end", is_gone).await;
    assert!(is_gone(&worlds.there("c").await));
    operators.stop().await;
    worlds.end().await;
}
