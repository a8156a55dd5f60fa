//! What every program does.

use serde_json::{Value, json};

use crate::world::World;

/// Creates, repairs, follows and ends, in a world without Greetings.
pub(crate) async fn plays(world: &World) {
    world.greet("first", "world").await;
    let made = world.until_greeted("first", "world").await;
    assert_eq!(owner(&made), owner_of(&world.greeting("first").await), "{made}");
    world.until_counted("first", 1).await;

    world.edit("first", json!({"hello": "edited"})).await;
    world.until_greeted("first", "world").await;

    let deleted = world.delete_config_map("first").await;
    let is_new =
        |it: &Value| it.pointer("/metadata/uid").is_some_and(|uid| *uid != deleted.as_str());
    world.until_config_map("the ConfigMap is made again", "first", is_new).await;
    world.until_greeted("first", "world").await;

    world.change("first", json!({"spec": {"name": "moon"}})).await;
    world.until_greeted("first", "moon").await;
    world.until_counted("first", 1).await;

    world.dismiss("first").await;
    world.until_config_map("the ConfigMap is collected", "first", Value::is_null).await;
}

/// The one owner, which controls it.
fn owner(config_map: &Value) -> Value {
    let owner = &config_map["metadata"]["ownerReferences"];
    json!({"number": owner.as_array().map_or(0, Vec::len), "uid": owner[0]["uid"],
        "controller": owner[0]["controller"]})
}

fn owner_of(greeting: &Value) -> Value {
    json!({"number": 1, "uid": greeting["metadata"]["uid"], "controller": true})
}
