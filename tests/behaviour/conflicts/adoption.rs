//! Existing objects become children.

use kube::api::{Patch, PatchParams};
use operetta::{operator::ConflictPolicy, prelude::*, testkit::internals::history::Verb};
use serde_json::{Value, json};

use super::{events, message, start, verbs};
use crate::{
    recipe::{RECIPE, config_map, recipe},
    world::{CONFIG_MAP, World, condition},
};

#[operetta_harness::test(server)]
async fn an_object_without_an_owner_is_adopted_with_the_fields_of_its_managers() {
    let world = World::new().await;
    let old = json!({"salt": "little", "stale": "of an earlier program"});
    let owner = world.create(CONFIG_MAP, config_map("owner", json!({}))).await;
    let before = world.apply(CONFIG_MAP, config_map("c", old)).await;
    // Finalizers and owners protect what belongs to others.
    let owners = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"],
    }]);
    let theirs = json!({"finalizers": ["example.com/backup"], "ownerReferences": owners});
    let by_hand = json!({"data": {"sugar": "by hand"}, "metadata": theirs});
    world.patch(CONFIG_MAP, "c", by_hand).await;
    let operators = start(&world, ChildConfig::apply().adopting()).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    let parent = world.until_ready(RECIPE, "r").await;
    let child = world.get(CONFIG_MAP, "c").await;
    assert_eq!(child["metadata"]["uid"], before["metadata"]["uid"], "it is the same object");
    assert_eq!(child["data"], json!({"salt": "much"}));
    let owners = child["metadata"]["ownerReferences"].as_array().unwrap();
    let ours: Vec<_> = owners.iter().filter(|owner| owner["controller"] == true).collect();
    assert_eq!((owners.len(), ours.len()), (2, 1), "{child}");
    assert_eq!(ours[0]["uid"], parent["metadata"]["uid"]);
    assert_eq!(child["metadata"]["finalizers"], theirs["finalizers"]);
    assert_eq!(child["metadata"]["labels"]["app.kubernetes.io/managed-by"], "cook");
    assert_eq!(verbs(&world, &operators).await, [Verb::Adopted]);
    let events = events(&world, "Adopted").await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["type"], "Normal");
    // From now on it is an ordinary child.
    world.patch(CONFIG_MAP, "c", json!({"metadata": {"finalizers": null}})).await;
    world.apply(RECIPE, recipe("r", &[])).await;
    world.until(CONFIG_MAP, "c", "no child", Value::is_null).await;
    operators.stop().await;
}

/// An object without an owner, with a field of Kubernetes itself.
async fn with_field_of_kubernetes(world: &World, name: &str) -> Value {
    let theirs = json!({"salt": "theirs", "oil": "theirs"});
    world.apply(CONFIG_MAP, config_map(name, theirs)).await;
    let kubernetes = PatchParams::apply("kube-controller-manager");
    let kept = json!({"data": {"salt": "kept"}});
    let kept = world.api(CONFIG_MAP).patch(name, &kubernetes, &Patch::Merge(kept)).await.unwrap();
    serde_json::to_value(kept).unwrap()
}

#[operetta_harness::test(server)]
async fn an_object_with_conflicting_fields_is_not_adopted_and_not_modified() {
    let world = World::new().await;
    let before = with_field_of_kubernetes(&world, "c").await;
    let how = ChildConfig::apply().with_conflicts(ConflictPolicy::Report).adopting();
    let operators = start(&world, how).await;
    let wanted = config_map("c", json!({"salt": "much", "oil": "much"}));
    world.apply(RECIPE, recipe("r", &[wanted])).await;
    let is_reported = |parent: &Value| {
        condition(parent, "Ready")["reason"] == "Conflict"
            && message(parent).contains(".data.salt (`kube-controller-manager`)")
    };
    let parent = world.until(RECIPE, "r", "who holds it", is_reported).await;
    assert!(!message(&parent).contains(".data.oil"), "that field would be transferred: {parent}");
    assert_eq!(verbs(&world, &operators).await, []);
    assert_eq!(world.get(CONFIG_MAP, "c").await, before);
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn an_owner_reference_set_by_others_does_not_prevent_the_adoption() {
    let world = World::new().await;
    for (name, policy) in [("y", ConflictPolicy::Yield), ("r", ConflictPolicy::Report)] {
        let wanted = config_map(name, json!({"salt": "much"}));
        let parent = world.apply(RECIPE, recipe(name, &[wanted])).await;
        let mut theirs = config_map(name, json!({"salt": "theirs"}));
        theirs["metadata"]["ownerReferences"] = json!([{
            "apiVersion": RECIPE.0, "kind": RECIPE.1, "name": name,
            "uid": parent["metadata"]["uid"],
        }]);
        let before = world.apply(CONFIG_MAP, theirs).await;
        let how = ChildConfig::apply().with_conflicts(policy).adopting();
        let operators = start(&world, how).await;
        world.until_ready(RECIPE, name).await;
        let child = world.get(CONFIG_MAP, name).await;
        assert_eq!(child["metadata"]["uid"], before["metadata"]["uid"]);
        assert_eq!(child["metadata"]["ownerReferences"][0]["controller"], true);
        assert_eq!(child["data"], json!({"salt": "much"}));
        operators.stop().await;
    }
}

#[operetta_harness::test(server)]
async fn an_object_is_adopted_without_the_fields_that_other_managers_keep() {
    let world = World::new().await;
    let before = with_field_of_kubernetes(&world, "c").await;
    let how = ChildConfig::apply().with_conflicts(ConflictPolicy::Yield).adopting();
    let operators = start(&world, how).await;
    let wanted = config_map("c", json!({"salt": "much", "oil": "much"}));
    world.apply(RECIPE, recipe("r", &[wanted])).await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert!(message(&parent).contains(".data.salt (`kube-controller-manager`)"), "{parent}");
    let child = world.get(CONFIG_MAP, "c").await;
    assert_eq!(child["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(child["data"], json!({"salt": "kept", "oil": "much"}));
    operators.stop().await;
}
