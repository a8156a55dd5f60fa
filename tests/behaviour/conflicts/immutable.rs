//! Children with immutable fields, and several children that fail at once.

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Secret, Service},
};
use operetta::{prelude::*, testkit::internals::history::Verb};
use serde_json::{Value, json};

use super::{DEPLOYMENT, message, start, verbs};
use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, SECRET, SERVICE, World, condition},
};

fn frozen(salt: &str) -> Value {
    let mut child = config_map("c", json!({"salt": salt}));
    child["immutable"] = json!(true);
    child
}

#[operetta_harness::test]
async fn a_child_with_a_changed_immutable_field_is_recreated_if_configured() {
    let world = World::new().await;
    let operators = start(&world, ChildConfig::apply().recreate_if_immutable()).await;
    world.apply(RECIPE, recipe("r", &[frozen("little")])).await;
    world.until_ready(RECIPE, "r").await;
    let before = world.get(CONFIG_MAP, "c").await;
    world.apply(RECIPE, recipe("r", &[frozen("much")])).await;
    world.until_ready(RECIPE, "r").await;
    let after = world.get(CONFIG_MAP, "c").await;
    assert_ne!(after["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(after["data"], json!({"salt": "much"}));
    let expected = [Verb::Created, Verb::Deleted, Verb::Created];
    assert_eq!(verbs(&world, &operators).await, expected);
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_child_with_a_changed_immutable_field_is_not_recreated_by_default() {
    let world = World::new().await;
    let operators = start(&world, ChildConfig::apply()).await;
    world.apply(RECIPE, recipe("r", &[frozen("little")])).await;
    world.until_ready(RECIPE, "r").await;
    let before = world.get(CONFIG_MAP, "c").await;
    world.apply(RECIPE, recipe("r", &[frozen("much")])).await;
    let is_reported = |parent: &Value| {
        let ready = condition(parent, "Ready");
        ready["reason"] == "WriteFailed"
            && ready["message"].as_str().is_some_and(|message| message.contains("immutable"))
    };
    world.until(RECIPE, "r", "a refused write", is_reported).await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, before);
    // Its deletion triggers the retry at once.
    world.delete(CONFIG_MAP, "c").await;
    let is_new = |child: &Value| child["data"] == frozen("much")["data"];
    world.until(CONFIG_MAP, "c", "the child as it is wanted by now", is_new).await;
    world.until_ready(RECIPE, "r").await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn immutable_selectors_addresses_and_types_are_changed_by_recreation() {
    let world = World::new().await;
    let config = ChildConfig::apply().recreate_if_immutable();
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent)
        .child::<Deployment>(config)
        .child::<Secret>(config)
        .child::<Service>(config);
    let operators = world.start(|builder| builder.register(config, recipe::handler())).await;
    let children = |dish: &str, ip: Value, ty: &str| {
        let container = json!({"name": "c", "image": "example.dev/c:1"});
        [
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "c"}, "spec": {
                "replicas": 0, "selector": {"matchLabels": {"dish": dish}},
                "template": {
                    "metadata": {"labels": {"dish": dish}}, "spec": {"containers": [container]},
                },
            }}),
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "c"}, "spec": {
                "clusterIP": ip, "ports": [{"port": 80}],
            }}),
            json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "c"}, "type": ty,
                "stringData": {"salt": "much"},
            }),
        ]
    };
    let uids = async || {
        let mut uids = Vec::new();
        for kind in [DEPLOYMENT, SERVICE, SECRET] {
            uids.push(world.get(kind, "c").await["metadata"]["uid"].clone());
        }
        uids
    };
    world.apply(RECIPE, recipe("r", &children("soup", Value::Null, "a.dev/a"))).await;
    world.until_synced(RECIPE, "r").await;
    let before = uids().await;
    world.apply(RECIPE, recipe("r", &children("stew", json!("None"), "a.dev/b"))).await;
    world.until_synced(RECIPE, "r").await;
    let after = uids().await;
    assert!(before.iter().zip(&after).all(|(old, new)| old != new), "{before:?} {after:?}");
    assert_eq!(world.get(SECRET, "c").await["type"], "a.dev/b");
    assert_eq!(world.get(SERVICE, "c").await["spec"]["clusterIP"], "None");
    let selector = &world.get(DEPLOYMENT, "c").await["spec"]["selector"]["matchLabels"];
    assert_eq!(*selector, json!({"dish": "stew"}));
    operators.stop().await;
}

// === several at once ===

/// Its deletion triggers a reconcile although the failure of another delays the retry by a minute.
#[operetta_harness::test]
async fn a_deleted_child_is_created_again_at_once_although_another_is_refused() {
    let world = World::new().await;
    let operators = start(&world, ChildConfig::apply()).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    world.until_ready(RECIPE, "r").await;
    let held = json!({"metadata": {"finalizers": ["example.dev/hold"]}});
    world.patch(CONFIG_MAP, "c", held).await;
    world.delete(CONFIG_MAP, "c").await;
    let children = ["Not_A_Name", "c"].map(|name| config_map(name, json!({})));
    world.apply(RECIPE, recipe("r", &children)).await;
    let is_reported = |parent: &Value| condition(parent, "Ready")["reason"] == "WriteFailed";
    world.until(RECIPE, "r", "a refused write", is_reported).await;
    let ending = world.get(CONFIG_MAP, "c").await;
    world.patch(CONFIG_MAP, "c", json!({"metadata": {"finalizers": null}})).await;
    let is_new =
        |child: &Value| child.is_object() && child["metadata"]["uid"] != ending["metadata"]["uid"];
    world.until(CONFIG_MAP, "c", "another object", is_new).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn all_failed_children_are_reported_and_the_others_are_written() {
    let world = World::new().await;
    let operators = start(&world, ChildConfig::apply()).await;
    let names = ["Not_A_Name", "good", "Nor_This", "better"];
    let children = names.map(|name| config_map(name, json!({})));
    world.apply(RECIPE, recipe("r", &children)).await;
    let is_reported = |parent: &Value| {
        condition(parent, "Ready")["reason"] == "WriteFailed"
            && ["Not_A_Name", "Nor_This"].iter().all(|name| message(parent).contains(name))
    };
    let parent = world.until(RECIPE, "r", "both failures", is_reported).await;
    assert!(!message(&parent).contains("good"), "{parent}");
    for name in ["good", "better"] {
        assert!(world.get(CONFIG_MAP, name).await.is_object(), "{name}");
    }
    operators.stop().await;
}
