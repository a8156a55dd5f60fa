//! One child is refused, and the status shows the others.

use k8s_openapi::api::core::v1::{ConfigMap, Service};
use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{RECIPE, config_map, recipe},
    world::{CONFIG_MAP, World, condition},
};

/// Shows what others write into a child, beside a child that no server accepts.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let seen = request.children.of_type(("v1", "ConfigMap")).iter().next().cloned();
    let seen = seen.and_then(|child| child.field("data")).unwrap_or_default();
    let refused = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": {"ports": [{"port": 700_000}]}});
    Ok(SyncResponse::status(json!({"taste": seen["salt"]}))
        .ensure(config_map("c", json!({"salt": "none"})))
        .child(refused))
}

#[operetta_harness::test(server)]
async fn the_status_follows_the_other_children_while_one_is_refused_for_minutes() {
    let world = World::new().await;
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent)
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Service>(ChildConfig::apply());
    let operators = world.start(|builder| builder.register(config, sync)).await;
    world.apply(RECIPE, recipe("r", &[])).await;
    // The retry comes in ten minutes. The reconcile that is refused creates the other child.
    let follows = |parent: &Value| {
        condition(parent, "Synced")["status"] == "False" && parent["status"]["taste"] == "none"
    };
    world.until(RECIPE, "r", "the refusal and the new child", follows).await;
    for salt in ["little", "much"] {
        world.patch(CONFIG_MAP, "c", json!({"data": {"salt": salt}})).await;
        let follows = |parent: &Value| parent["status"]["taste"] == salt;
        world.until(RECIPE, "r", "the other child", follows).await;
    }
    operators.stop().await;
}
