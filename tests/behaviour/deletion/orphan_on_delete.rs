//! Children that stay when their parent is deleted.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, PropagationPolicy};
use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    reported::ExpectedFailure,
    world::{CONFIG_MAP, Operators, World},
};

fn kept() -> ChildConfig {
    ChildConfig::apply().orphan_on_delete()
}

async fn start(world: &World, child: ChildConfig) -> Operators {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent).child::<ConfigMap>(child);
    world.start(|builder| builder.register(config, recipe::handler())).await
}

async fn delete_parent(world: &World, name: &str, policy: PropagationPolicy) {
    let params = DeleteParams { propagation_policy: Some(policy), ..DeleteParams::default() };
    world.api(RECIPE).delete(name, &params).await.unwrap();
    world.until(RECIPE, name, "the parent gone", Value::is_null).await;
}

/// Waits until the garbage collector has processed a deletion that came later.
async fn until_collected(world: &World) {
    let owner = world.create(RECIPE, recipe("witness", &[])).await;
    let mut child = config_map("witness", json!({}));
    child["metadata"]["ownerReferences"] = json!([{"apiVersion": RECIPE.0, "kind": RECIPE.1,
        "name": "witness", "uid": owner["metadata"]["uid"]}]);
    world.create(CONFIG_MAP, child).await;
    delete_parent(world, "witness", PropagationPolicy::Background).await;
    world.until(CONFIG_MAP, "witness", "the witness gone", Value::is_null).await;
}

fn owners(child: &Value) -> &Value {
    &child["metadata"]["ownerReferences"]
}

#[operetta_harness::test(server)]
async fn they_stay_whatever_the_propagation_policy_of_the_deletion_is() {
    let world = World::new().await;
    let operators = start(&world, kept()).await;
    for (name, policy) in [
        ("background", PropagationPolicy::Background),
        ("foreground", PropagationPolicy::Foreground),
        ("orphan", PropagationPolicy::Orphan),
    ] {
        let parent = recipe(name, &[config_map(name, json!({"salt": "much"}))]);
        let parent = world.apply(RECIPE, parent).await;
        world.until_ready(RECIPE, name).await;
        assert!(parent["metadata"]["finalizers"].is_null(), "none is needed");
        let child = world.get(CONFIG_MAP, name).await;
        assert!(owners(&child).is_null(), "{child}");
        assert_eq!(child["metadata"]["labels"]["operetta.dev/orphan-on-delete"], "true");
        delete_parent(&world, name, policy).await;
        until_collected(&world).await;
        assert_eq!(world.get(CONFIG_MAP, name).await, child);
    }
    operators.stop().await;
}

#[operetta_harness::test(server)]
async fn an_existing_child_loses_its_owner_reference_and_gets_it_back() {
    let world = World::new().await;
    let children = [config_map("c", json!({"salt": "much"}))];
    let parent = world.apply(RECIPE, recipe("r", &children)).await;
    let uid = &parent["metadata"]["uid"];
    let is_owned = |child: &Value| owners(child)[0]["uid"] == *uid;
    let mut first = Value::Null;
    for (config, expected) in
        [(ChildConfig::apply(), true), (kept(), false), (ChildConfig::apply(), true)]
    {
        let operators = start(&world, config).await;
        let is_right = |child: &Value| child.is_object() && is_owned(child) == expected;
        let child = world.until(CONFIG_MAP, "c", "the right owner", is_right).await;
        operators.until_synced("cook", &world.namespace, "r").await;
        let mark = &child["metadata"]["labels"]["operetta.dev/orphan-on-delete"];
        assert_eq!(mark.is_null(), expected);
        if first.is_null() {
            first = child["metadata"]["uid"].clone();
        }
        assert_eq!(child["metadata"]["uid"], first, "it is the same object");
        operators.stop().await;
    }
}

#[operetta_harness::test(server)]
async fn a_new_parent_finds_an_object_of_nobody_and_adopts_it_if_configured() {
    let world = World::new().await;
    let operators = start(&world, kept()).await;
    let children = [config_map("c", json!({"salt": "much"}))];
    world.apply(RECIPE, recipe("r", &children)).await;
    world.until_ready(RECIPE, "r").await;
    let left = world.get(CONFIG_MAP, "c").await;
    delete_parent(&world, "r", PropagationPolicy::Background).await;
    let failure = ExpectedFailure::before(&world, &operators, "cook", "Conflict").await;
    let parent = world.apply(RECIPE, recipe("r", &children)).await;
    failure.until_reported("r", "it has no controller").await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, left);
    operators.stop().await;

    let operators = start(&world, kept().adopting()).await;
    world.until_ready(RECIPE, "r").await;
    let taken = world.get(CONFIG_MAP, "c").await;
    assert_eq!(taken["metadata"]["uid"], left["metadata"]["uid"]);
    let label = &taken["metadata"]["labels"]["operetta.dev/parent-uid"];
    assert_eq!(label, &parent["metadata"]["uid"]);
    // Another parent does not take it while that one lives.
    let failure = ExpectedFailure::before(&world, &operators, "cook", "Conflict").await;
    world.apply(RECIPE, recipe("other", &children)).await;
    failure.until_reported("other", "it is a child of Recipe").await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, taken);
    operators.stop().await;
}
