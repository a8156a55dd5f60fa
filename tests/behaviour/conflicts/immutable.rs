//! Children with immutable fields.

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, Service},
};
use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, DEPLOYMENT, SECRET, SERVICE, World},
};

fn frozen(salt: &str) -> Value {
    let mut child = config_map("c", json!({"salt": salt}));
    child["immutable"] = json!(true);
    child
}

#[operetta_harness::test(server)]
async fn immutable_selectors_addresses_and_types_are_changed_by_recreation() {
    let world = World::new().await;
    let config = ChildConfig::apply().recreate_if_immutable();
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent)
        .child::<ConfigMap>(config)
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
            frozen(dish),
        ]
    };
    let uids = async || {
        let mut uids = Vec::new();
        for kind in [DEPLOYMENT, SERVICE, SECRET, CONFIG_MAP] {
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
    assert_eq!(world.get(CONFIG_MAP, "c").await["data"]["salt"], "stew");
    assert_eq!(world.get(SECRET, "c").await["type"], "a.dev/b");
    assert_eq!(world.get(SERVICE, "c").await["spec"]["clusterIP"], "None");
    let selector = &world.get(DEPLOYMENT, "c").await["spec"]["selector"]["matchLabels"];
    assert_eq!(*selector, json!({"dish": "stew"}));
    operators.stop().await;
}
