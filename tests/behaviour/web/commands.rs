//! Commands over HTTP: to reconcile a parent now, to pause it, and to pause an operator.

use std::{
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Error;
use operetta::{object::Object, prelude::*};
use serde_json::{Value, json};

use crate::{
    cleaner::Cleaner,
    recipe::{self, RECIPE, config_map, recipe},
    world::{CONFIG_MAP, Operators, World, condition, eventually},
};

/// A handler that fails while it is cold.
#[derive(Clone, Default)]
struct Oven {
    is_hot: Arc<AtomicBool>,
    is_permanent: bool,
}

impl Handler for Oven {
    type Parent = Object;
    type Response = SyncResponse;

    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        match (self.is_hot.load(Ordering::Acquire), self.is_permanent) {
            (true, _) => recipe::sync(request),
            (false, true) => Err(Permanent("the oven is broken".to_owned()).into()),
            (false, false) => Err(Error::msg("the oven is cold")),
        }
    }
}

/// A handler that hangs for the parent `r` while it is held.
#[derive(Clone, Default)]
struct Held(Arc<(Mutex<bool>, Condvar)>);

impl Held {
    fn set(&self, is_held: bool) {
        *self.0.0.lock().unwrap() = is_held;
        self.0.1.notify_all();
    }

    fn wait(&self) {
        let is_held = self.0.0.lock().unwrap();
        drop(self.0.1.wait_while(is_held, |is_held| *is_held).unwrap());
    }
}

impl Handler for Held {
    type Parent = Object;
    type Response = SyncResponse;

    fn sync(&self, request: &SyncRequest) -> Result<SyncResponse> {
        if request.parent.name() == "r" {
            self.wait();
        }
        recipe::sync(request)
    }
}

/// A config with a backoff longer than any test.
fn patient() -> OperatorConfig {
    let long = Duration::from_hours(1);
    recipe::config("cook").with_error_backoff(long, long)
}

fn path(world: &World, name: &str) -> String {
    format!("/api/v1/operators/cook/parents/{}/{name}", world.namespace)
}

async fn command(operators: &Operators, path: &str) -> Value {
    let (code, body) = operators.post(path).await;
    let answer: Value = serde_json::from_str(&body).unwrap();
    assert!((200..300).contains(&code), "{path}: {answer}");
    assert_eq!([&answer["kind"], &answer["status"]], ["Status", "Success"], "{answer}");
    assert_eq!(answer["code"], code);
    answer
}

async fn explained(world: &World, operators: &Operators, name: &str) -> Value {
    let (_, body) = operators.http(&path(world, name)).await;
    serde_json::from_str(&body).unwrap_or_default()
}

async fn until_phase(world: &World, operators: &Operators, name: &str, phase: &str) {
    let shown = || async { explained(world, operators, name).await["phase"].clone() };
    eventually(phase, shown, |shown| *shown == phase).await;
}

/// Waits until a parent reports that its operator is paused, with these pending writes.
async fn until_held(world: &World, name: &str, pending: &str) -> Value {
    let is_reported = |parent: &Value| {
        let paused = condition(parent, "Paused");
        paused["reason"] == "OperatorPaused"
            && paused["message"].as_str().unwrap_or_default().contains(pending)
    };
    world.until(RECIPE, name, "the pause of its operator", is_reported).await
}

#[operetta_harness::test]
async fn a_sync_ends_a_backoff_and_reconciles_a_stalled_parent() {
    for (is_permanent, phase) in [(false, "failing"), (true, "stalled")] {
        let world = World::new().await;
        let oven = Oven { is_permanent, ..Oven::default() };
        let handler = oven.clone();
        let operators = world.start(|builder| builder.register(patient(), handler)).await;
        world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
        until_phase(&world, &operators, "r", phase).await;
        oven.is_hot.store(true, Ordering::Release);
        command(&operators, &format!("{}/sync", path(&world, "r"))).await;
        world.until_ready(RECIPE, "r").await;
        // A reconcile is in the history once it has ended, after its last write.
        let explained = || explained(&world, &operators, "r");
        let has_command = |shown: &Value| {
            let reconciles = shown["history"].as_array().unwrap().iter();
            let mut causes = reconciles.flat_map(|it| it["causes"].as_array().unwrap());
            causes.any(|cause| cause["reason"] == "Command")
        };
        eventually("the command in the history", explained, has_command).await;
        operators.stop().await;
    }
}

#[operetta_harness::test(server)]
async fn a_parent_is_paused_and_resumed_over_http() {
    let world = World::new().await;
    let operators = world.start(|builder| builder.register(patient(), recipe::sync)).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    world.until_ready(RECIPE, "r").await;
    command(&operators, &format!("{}/pause", path(&world, "r"))).await;
    let paused = world.get(RECIPE, "r").await;
    let pause = paused["metadata"]["annotations"]["operetta.dev/paused"].to_string();
    assert!(pause.contains("since="), "for kubectl: {pause}");
    let fields = paused["metadata"]["managedFields"].to_string();
    assert!(fields.contains("operetta.dev/paused") && fields.contains("\"cook\""), "{fields}");
    until_phase(&world, &operators, "r", "paused").await;
    world.delete(CONFIG_MAP, "c").await;
    let pending = |parent: &Value| {
        let message = condition(parent, "Paused")["message"].clone();
        message.as_str().unwrap_or_default().contains("1 write is pending")
    };
    world.until(RECIPE, "r", "the pending repair", pending).await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, Value::Null, "not repaired");
    command(&operators, &format!("{}/resume", path(&world, "r"))).await;
    let resumed = world.until_ready(RECIPE, "r").await;
    assert_eq!(resumed["metadata"]["annotations"]["operetta.dev/paused"], Value::Null);
    world.until(CONFIG_MAP, "c", "the repair", |child| !child.is_null()).await;
    // A second resume changes nothing.
    command(&operators, &format!("{}/resume", path(&world, "r"))).await;
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_paused_operator_writes_only_statuses_and_catches_up_when_it_is_resumed() {
    let world = World::new().await;
    let cleaner = Cleaner::default();
    let handler = cleaner.clone();
    let operators = world.start(|builder| builder.register(patient(), handler)).await;
    for name in ["kept", "going"] {
        world.apply(RECIPE, recipe(name, &[config_map(name, json!({}))])).await;
        world.until_ready(RECIPE, name).await;
    }
    command(&operators, "/api/v1/operators/cook/pause").await;
    let (code, text) = operators.http("/readyz?verbose").await;
    assert_eq!(code, 200, "{text}");
    assert!(text.contains("[+]operator/cook paused"), "{text}");
    // Repairs, changes, creations and deletions wait, and so does a finalizer.
    world.delete(CONFIG_MAP, "kept").await;
    until_held(&world, "kept", "1 write is pending").await;
    let mut new = recipe("new", &[config_map("new", json!({}))]);
    new["spec"]["status"] = json!({"taste": "salty"});
    world.apply(RECIPE, new).await;
    let parent = until_held(&world, "new", "1 write is pending").await;
    assert_eq!(
        parent["status"]["taste"], "salty",
        "the handler is called, and the status is written"
    );
    assert_eq!(parent["metadata"]["finalizers"], Value::Null);
    world.delete(RECIPE, "going").await;
    until_held(&world, "going", "not finalized").await;
    until_phase(&world, &operators, "new", "paused").await;
    operators.settled().await;
    assert_eq!(world.get(CONFIG_MAP, "kept").await, Value::Null);
    assert_eq!(world.get(CONFIG_MAP, "new").await, Value::Null);
    assert_eq!(cleaner.finalized(&world, "going"), 0);
    command(&operators, "/api/v1/operators/cook/resume").await;
    for name in ["kept", "new"] {
        let parent = world.until_ready(RECIPE, name).await;
        assert_eq!(condition(&parent, "Paused"), Value::Null, "{name}");
        assert!(world.get(CONFIG_MAP, name).await["metadata"]["uid"].is_string(), "{name}");
    }
    world.until(RECIPE, "going", "its end", Value::is_null).await;
    assert_eq!(cleaner.finalized(&world, "going"), 1);
    let (_, text) = operators.http("/readyz?verbose").await;
    assert!(text.contains("[+]operator/cook ok"), "{text}");
    operators.stop().await;
}

#[operetta_harness::test]
async fn a_handler_that_hangs_in_a_preview_does_not_block_others() {
    let world = World::new().await;
    let (held, deadline) = (Held::default(), Duration::from_millis(200));
    // A busy machine may keep a handler beyond this deadline that does not hang: it is retried soon.
    let (handler, config) = (held.clone(), recipe::config("cook").with_handler_deadline(deadline));
    let operators = world.start(|builder| builder.register(config, handler)).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({}))])).await;
    operators.until_synced("cook", &world.namespace, "r").await;
    operators.settled().await;
    // A further call would be refused while the first hangs.
    operators.shown(&path(&world, "r")).await;
    held.set(true);
    let preview = || async {
        let (code, body) = operators.http(&format!("{}?diff=1", path(&world, "r"))).await;
        assert_eq!(code, 200, "{body}");
        serde_json::from_str::<Value>(&body).unwrap()["previewError"].clone()
    };
    assert_eq!(preview().await, "the handler has not returned within 0.2 s");
    // The call still holds its thread, so a second preview is refused.
    let second = preview().await;
    assert!(second.as_str().unwrap().contains("retry when it has finished"), "{second}");
    world.apply(RECIPE, recipe("s", &[config_map("d", json!({}))])).await;
    world.until_ready(RECIPE, "s").await;
    held.set(false);
    eventually("an answer", preview, Value::is_null).await;
    world.apply(RECIPE, recipe("r", &[config_map("c", json!({"salt": "much"}))])).await;
    let is_salted = |child: &Value| child["data"]["salt"] == "much";
    world.until(CONFIG_MAP, "c", "the change", is_salted).await;
    operators.stop().await;
}
