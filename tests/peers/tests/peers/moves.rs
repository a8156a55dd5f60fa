//! From another framework to Operetta: the program is replaced, and the objects stay.

use serde_json::{Value, json};

use crate::{greeter::Program, world::World};

/// Replaces the program by the one with Operetta, which has the name that was the field manager.
pub(crate) async fn plays(world: &mut World) {
    world.greet("moved", "world").await;
    let before = world.until_greeted("moved", "world").await;
    world.until_counted("moved", 1).await;

    world.replace(Program::new(env!("CARGO_BIN_EXE_greeter-operetta")));
    let is_labelled =
        |it: &Value| it.pointer("/metadata/labels/operetta.dev~1parent-uid").is_some();
    let after = world.until_config_map("the labels of a child", "moved", is_labelled).await;
    for kept in ["/metadata/uid", "/metadata/ownerReferences/0/uid"] {
        assert_eq!(after.pointer(kept), before.pointer(kept), "{after}");
    }

    world.edit("moved", json!({"hello": "edited"})).await;
    world.until_greeted("moved", "world").await;
    world.dismiss("moved").await;
    world.until_config_map("the ConfigMap is collected", "moved", Value::is_null).await;
    assert_eq!(world.greeting("moved").await, Value::Null);
}
