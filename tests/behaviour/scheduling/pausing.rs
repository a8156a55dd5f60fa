//! A user pauses and resumes a parent.

use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, Operators, World, condition, eventually},
};

fn paused(name: &str, children: &[Value]) -> Value {
    annotated(recipe(name, children), "true")
}

fn annotated(mut parent: Value, value: &str) -> Value {
    parent["metadata"]["annotations"] = json!({"operetta.dev/paused": value});
    parent
}

async fn start(world: &World) -> Operators {
    world.start(|builder| builder.register(recipe::config("cook"), recipe::handler())).await
}

/// Waits until a parent reports that it is paused, with this about pending writes.
async fn until_paused(world: &World, name: &str, pending: &str) -> Value {
    let is_reported = |parent: &Value| {
        let paused = condition(parent, "Paused");
        let generation = &parent["metadata"]["generation"];
        paused["message"].as_str().unwrap_or_default().contains(pending)
            && paused["observedGeneration"] == *generation
    };
    world.until(RECIPE, name, "the condition Paused", is_reported).await
}

#[operetta_harness::test]
async fn no_child_of_a_paused_parent_is_created_changed_or_deleted() {
    let world = World::new().await;
    let operators = start(&world).await;
    let kept = config_map("kept", json!({"salt": "little"}));
    let dropped = config_map("dropped", json!({}));
    world.apply(RECIPE, recipe("r", &[kept, dropped])).await;
    world.until_ready(RECIPE, "r").await;
    let salted = [config_map("kept", json!({"salt": "much"})), config_map("new", json!({}))];
    world.apply(RECIPE, paused("r", &salted)).await;
    let parent = until_paused(&world, "r", "3 writes are pending").await;
    let ready = condition(&parent, "Ready");
    assert_eq!((&ready["status"], &ready["reason"]), (&json!("False"), &json!("Paused")));
    for name in ["kept", "new", "dropped"] {
        assert!(ready["message"].as_str().unwrap().contains(&format!("/{name}: its")), "{ready}");
    }
    world.delete(CONFIG_MAP, "kept").await;
    operators.settled().await;
    assert_eq!(world.get(CONFIG_MAP, "kept").await, Value::Null, "not repaired");
    assert_eq!(world.get(CONFIG_MAP, "new").await, Value::Null);
    assert!(world.get(CONFIG_MAP, "dropped").await["metadata"]["uid"].is_string());
    let phase = || async {
        let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
        let (_, body) = operators.http(&path).await;
        serde_json::from_str::<Value>(&body).unwrap_or_default()["phase"].clone()
    };
    eventually("the phase over HTTP", phase, |phase| *phase == "paused").await;
    // Without the annotation it is reconciled at once.
    world.apply(RECIPE, recipe("r", &salted)).await;
    let parent = world.until_ready(RECIPE, "r").await;
    assert_eq!(condition(&parent, "Paused"), Value::Null);
    assert_eq!(world.get(CONFIG_MAP, "kept").await["data"]["salt"], "much");
    assert!(world.get(CONFIG_MAP, "new").await["metadata"]["uid"].is_string());
    assert_eq!(world.get(CONFIG_MAP, "dropped").await, Value::Null);
    operators.stop().await;
}
