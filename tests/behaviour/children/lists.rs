//! Lists whose items have keys: their order is part of the desired object. Init containers run in it, and
//! a variable can refer to those before it.

use k8s_openapi::api::apps::v1::Deployment;
use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, recipe},
    world::{DEPLOYMENT, World},
};

const VARIABLES: &str = "/spec/template/spec/containers/0/env";

fn deployment(variables: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {
            "replicas": 0, "selector": {"matchLabels": {"app": "d"}},
            "template": {
                "metadata": {"labels": {"app": "d"}},
                "spec": {"containers": [
                    {"name": "c", "image": "example.dev/c:1", "env": variables},
                ]},
            },
        },
    })
}

fn dish_first() -> Value {
    json!([{"name": "DISH", "value": "soup"}, {"name": "MENU", "value": "$(DISH) of the day"}])
}

fn menu_first() -> Value {
    json!([{"name": "MENU", "value": "$(DISH) of the day"}, {"name": "DISH", "value": "soup"}])
}

fn has(variables: &Value) -> impl Fn(&Value) -> bool {
    move |child| child.pointer(VARIABLES) == Some(variables)
}

#[operetta_harness::test(server)]
async fn another_order_of_a_list_reaches_the_child() {
    let world = World::new().await;
    let config = recipe::config("cook").child::<Deployment>(ChildConfig::apply());
    let operators = world.start(|builder| builder.register(config, recipe::handler())).await;
    world.apply(RECIPE, recipe("r", &[deployment(&menu_first())])).await;
    world.until_synced(RECIPE, "r").await;
    world.apply(RECIPE, recipe("r", &[deployment(&dish_first())])).await;
    world.until(DEPLOYMENT, "d", "the new order", has(&dish_first())).await;
    world.until_synced(RECIPE, "r").await;
    // Another client orders it as before, which is repaired.
    let other = deployment(&menu_first());
    let changed = world.patch(DEPLOYMENT, "d", json!({"spec": other["spec"]})).await;
    assert_eq!(changed.pointer(VARIABLES), Some(&menu_first()));
    world.until(DEPLOYMENT, "d", "the desired order", has(&dish_first())).await;
    operators.stop().await;
}
