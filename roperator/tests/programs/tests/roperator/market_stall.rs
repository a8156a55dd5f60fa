//! `programs/market_stall.rs`: a handler in parts, called again each second.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::{program::Program, world::World};

const PROGRAM: &str = env!("CARGO_BIN_EXE_market-stall");
const STALLS: &str = "/apis/programs.operetta.dev/v1/stalls";

#[operetta_harness::test]
async fn a_handler_in_parts_is_called_again_by_time_and_shows_its_errors() {
    let world = World::new().await;
    let program = Program::start(PROGRAM);
    let stall = json!({
        "apiVersion": "programs.operetta.dev/v1", "kind": "Stall",
        "metadata": {"generateName": "pears-"},
        "spec": {"from": now() + 3600, "until": now() + 7200, "call": "ripe pears"},
    });
    let stall = world.create(STALLS, stall).await;
    let name = stall["metadata"]["name"].as_str().unwrap();
    let (path, pitch) = (format!("{STALLS}/{name}"), format!("/api/v1/namespaces/{name}"));

    let closed = until_sign(&world, &path, "closed").await;
    assert_eq!(closed["metadata"]["finalizers"], json!(["market-stalls"]));
    assert!(world.get(&pitch).await.is_null());
    // Nobody touches it when its time has come.
    let opens = now() + 3;
    world.patch(&path, json!({"spec": {"from": opens}})).await;
    let open = until_sign(&world, &path, "ripe pears").await;
    assert!(open["status"]["since"].as_u64().unwrap() >= opens);
    let first = world.get(&pitch).await;
    assert_eq!(first["metadata"]["ownerReferences"][0]["uid"], stall["metadata"]["uid"]);

    let second = stays_until_it_is_deleted(&world, &path, &pitch, &first).await;
    an_error_is_shown_and_harms_nothing(&world, &path, &pitch, &second).await;

    world.patch(&path, json!({"spec": {"from": 0, "until": 1}})).await;
    world.until_gone(&pitch).await;
    let closed = until_sign(&world, &path, "closed").await;
    assert!(closed["status"]["trouble"].is_null(), "{closed}");

    world.delete(&path).await;
    world.until_gone(&path).await;
    assert_eq!(program.terminate().code(), Some(1), "as its `main` says");
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

async fn until_sign(world: &World, path: &str, says: &str) -> Value {
    world.until(path, says, |stall| stall["status"]["says"] == says).await
}

/// As `on_delete` says: what is new waits for the next Namespace.
async fn stays_until_it_is_deleted(world: &World, path: &str, pitch: &str, first: &Value) -> Value {
    let call =
        |pitch: &Value| pitch["metadata"]["annotations"]["programs.operetta.dev/call"].clone();
    world.patch(path, json!({"spec": {"call": "last pears"}})).await;
    until_sign(world, path, "last pears").await;
    assert_eq!(call(&world.get(pitch).await), "ripe pears");

    world.delete(pitch).await;
    let is_new =
        |now: &Value| now.is_object() && now["metadata"]["uid"] != first["metadata"]["uid"];
    let second = world.until(pitch, "created again", is_new).await;
    assert_eq!(call(&second), "last pears");
    second
}

/// With roperator the Namespace would go, with all that is in it.
async fn an_error_is_shown_and_harms_nothing(
    world: &World,
    path: &str,
    pitch: &str,
    second: &Value,
) {
    world.patch(path, json!({"spec": {"until": 5}})).await;
    let is_shown = |stall: &Value| stall["status"]["trouble"].is_string();
    let stall = world.until(path, "its trouble", is_shown).await;
    let trouble = stall["status"]["trouble"].as_str().unwrap();
    assert!(trouble.starts_with("nobody understands the hours: it cannot close at 5"), "{trouble}");
    let now = world.get(pitch).await;
    assert_eq!(now["metadata"]["uid"], second["metadata"]["uid"]);
    assert!(now["metadata"]["deletionTimestamp"].is_null(), "{now}");
}
