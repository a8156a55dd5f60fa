//! Pods that roll when what they read changes.

use operetta::{prelude::*, recipes::checksum_of};
use serde_json::{Value, json};

use super::config;
use crate::{
    recipe::{RECIPE, recipe},
    world::{CONFIG_MAP, DEPLOYMENT, SECRET, World},
};

/// A Deployment that reads a `ConfigMap` and a Secret, whose content is in the parent.
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let spec = request.parent.field("spec").unwrap_or_default();
    let metadata = json!({"name": "shop"});
    let settings = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": spec["setting"]},
    });
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"a": "s3cret"},
    });
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {
            "selector": {"matchLabels": {"app": "shop"}},
            "template": {
                "metadata": {
                    "labels": {"app": "shop"},
                    "annotations": {"example.dev/read": checksum_of(&(&settings, &secret))?},
                },
                "spec": {"containers": [{"name": "shop", "image": "shop:1"}]},
            },
        },
    });
    Ok(SyncResponse::status(json!({})).child(settings).child(secret).child(deployment))
}

fn shop(setting: &str) -> Value {
    let mut parent = recipe("r", &[]);
    parent["spec"]["setting"] = json!(setting);
    parent
}

/// The annotation of the template; null before there is one.
fn read(deployment: &Value) -> &Value {
    &deployment["spec"]["template"]["metadata"]["annotations"]["example.dev/read"]
}

#[operetta_harness::test(server)]
async fn the_template_changes_with_the_content_and_with_nothing_that_others_write() {
    let world = World::new().await;
    let operators = world.start(|builder| builder.register(config("shop"), sync)).await;
    world.apply(RECIPE, shop("one")).await;
    world.until_synced(RECIPE, "r").await;
    let made = world.get(DEPLOYMENT, "shop").await;
    // What the server stored has the checksum of what was returned.
    let stored = [world.get(CONFIG_MAP, "shop").await, world.get(SECRET, "shop").await];
    assert_eq!(read(&made), &json!(checksum_of(&stored).unwrap()));
    let labels = json!({"metadata": {"labels": {"seen": "true"}, "annotations": {"by": "me"}}});
    let labelled = world.patch(CONFIG_MAP, "shop", labels).await;
    assert_eq!(read(&made), &json!(checksum_of(&[&labelled, &stored[1]]).unwrap()));
    world.apply(RECIPE, shop("two")).await;
    let is_other = |now: &Value| read(now) != read(&made);
    let rolled = world.until(DEPLOYMENT, "shop", "another template", is_other).await;
    assert_eq!(rolled["metadata"]["generation"], 2);
    operators.stop().await;
}
