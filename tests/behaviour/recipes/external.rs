//! Calls of another system, remembered in the status.

use std::sync::Mutex;

use anyhow::Error;
use operetta::{
    prelude::*,
    recipes::{Due, External},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::config;
use crate::{
    recipe::{RECIPE, recipe},
    world::{Operators, World},
};

/// The keys of all calls, by the input, and which fail.
static CALLS: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Status {
    remote: External,
}

/// The first call for `moody` fails.
async fn call(key: &str, input: &str) -> Result<String> {
    tokio::task::yield_now().await;
    let mut calls = CALLS.lock().unwrap();
    let is_first = !calls.iter().any(|(_, earlier)| earlier == input);
    calls.push((key.to_owned(), input.to_owned()));
    if input == "moody" && is_first {
        return Err(Error::msg("try again"));
    }
    Ok(format!("id-of-{input}"))
}

async fn sync(request: SyncRequest) -> Result<SyncResponse<Status>> {
    let mut status: Status = request.object().parse_field_as("status").unwrap_or_default();
    let input = request.parent.pointer("/spec/input").unwrap_or_default();
    if let Due::Call(due) = status.remote.due("remote", &request, &input)? {
        let id = call(due.key(), input.as_str().unwrap_or_default()).await?;
        status.remote = due.succeeded().with_id("remote", id);
    }
    Ok(SyncResponse::status(status))
}

async fn start(world: &World) -> Operators {
    let backoff = std::time::Duration::from_millis(100);
    let config = config("caller").with_error_backoff(backoff, backoff);
    world.start(|builder| builder.register(config, sync)).await
}

fn calling(input: &str, mark: u32) -> Value {
    let mut parent = recipe("r", &[]);
    parent["spec"] = json!({"input": input, "mark": mark});
    parent
}

/// The parent once it has the id of an input.
async fn until_called(world: &World, input: &str) -> Value {
    let id = json!(format!("id-of-{input}"));
    let has_id = |now: &Value| now["status"]["remote"]["ids"]["remote"] == id;
    world.until(RECIPE, "r", "the id", has_id).await
}

#[operetta_harness::test(server)]
async fn another_system_is_called_once_for_each_input_also_after_an_error_and_a_restart() {
    let world = World::new().await;
    world.install_recipes_with_open_root().await;
    let operators = start(&world).await;
    world.apply(RECIPE, calling("calm", 0)).await;
    let first = until_called(&world, "calm").await;
    // Changes of something else, and a new process.
    world.apply(RECIPE, calling("calm", 1)).await;
    world.until_ready(RECIPE, "r").await;
    operators.settled().await;
    operators.stop().await;
    let operators = start(&world).await;
    operators.until_synced("caller", &world.namespace, "r").await;
    world.apply(RECIPE, calling("calm", 2)).await;
    let still = world.until_ready(RECIPE, "r").await;
    assert_eq!(still["status"]["remote"], first["status"]["remote"]);
    // The call that failed is repeated with its key.
    world.apply(RECIPE, calling("moody", 3)).await;
    until_called(&world, "moody").await;
    operators.settled().await;
    operators.stop().await;
    let calls = CALLS.lock().unwrap().clone();
    let inputs: Vec<_> = calls.iter().map(|(_, input)| &**input).collect();
    assert_eq!(inputs, ["calm", "moody", "moody"]);
    assert_eq!(calls[1].0, calls[2].0);
    assert_ne!(calls[0].0, calls[1].0);
}
