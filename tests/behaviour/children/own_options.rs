//! Children with options of their own instead of those of their type.

use operetta::{operator::DesiredChild, prelude::*};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, World, condition},
};

/// Returns `spec.children`, which may have options.
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let spec = request.parent.field("spec").unwrap_or_default();
    let children: Vec<DesiredChild> = serde_json::from_value(spec["children"].clone())?;
    Ok(children.into_iter().fold(SyncResponse::status(json!({})), |response, child| {
        match child.config {
            Some(config) => response.child_with(config, child.object),
            None => response.child(child.object),
        }
    }))
}

fn with(config: ChildConfig, child: &Value) -> Value {
    json!({"object": child, "config": config})
}

#[operetta_harness::test(server)]
async fn a_child_is_treated_by_its_own_options_and_others_by_those_of_their_type() {
    let world = World::new().await;
    let config = recipe::config_on_delete("cook");
    let operators = world.start(|builder| builder.register(config, sync)).await;
    let children = |salt: &str| {
        let child = |name: &str| config_map(name, json!({"salt": salt}));
        [
            child("kept"),
            with(ChildConfig::apply(), &child("applied")),
            with(ChildConfig::recreate(), &child("recreated")),
        ]
    };
    world.apply(RECIPE, recipe("r", &children("little"))).await;
    world.until_ready(RECIPE, "r").await;
    let names = ["kept", "applied", "recreated"];
    let mut before = Vec::new();
    for name in names {
        before.push(world.get(CONFIG_MAP, name).await);
    }
    world.apply(RECIPE, recipe("r", &children("much"))).await;
    let is_new = |now: &Value| now["data"]["salt"] == "much";
    let applied = world.until(CONFIG_MAP, "applied", "the update", is_new).await;
    let recreated = world.until(CONFIG_MAP, "recreated", "another one", is_new).await;
    assert_eq!(applied["metadata"]["uid"], before[1]["metadata"]["uid"]);
    assert_ne!(recreated["metadata"]["uid"], before[2]["metadata"]["uid"]);
    let parent = world.until_ready(RECIPE, "r").await;
    let message = condition(&parent, "Synced")["message"].as_str().unwrap().to_owned();
    assert!(message.contains(".data.salt"), "{message}");
    assert_eq!(world.get(CONFIG_MAP, "kept").await, before[0]);
    world.delete(CONFIG_MAP, "kept").await;
    world.until(CONFIG_MAP, "kept", "another one", is_new).await;
    operators.stop().await;
}
