//! Handlers without an answer, and answers that only the server can refuse.

use std::{
    panic::panic_any,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Error;
use operetta::prelude::*;
use serde_json::{Value, json};

use super::{Setup, config};
use crate::{
    recipe::{self, RECIPE, acting, config_map, recipe},
    reported::ExpectedFailure,
    world::{CONFIG_MAP, World},
};

/// A description, the act of the handler, and the reported reason and message.
const FAILING: [(&str, &str, &str, &str); 8] = [
    ("an error", "fail", "HandlerFailed", "the oven is cold"),
    ("an error for good", "permanent", "HandlerFailed", "no such dish"),
    ("an error without end", "rant", "HandlerFailed", "no no no no no no"),
    ("a panic", "panic", "HandlerPanicked", "the kitchen burns"),
    ("a panic without words", "panic-silently", "HandlerPanicked", "no message"),
    ("what is no json", "no-json", "HandlerFailed", "cannot be written as JSON"),
    ("a child without bottom", "fall", "HandlerFailed", "nested more than 100 levels deep"),
    ("a status without bottom", "fall-inside", "HandlerFailed", "nested more than 100 levels deep"),
];

/// Fails in more ways than recipes.
fn misbehave(request: &SyncRequest) -> Result<SyncResponse> {
    let without_bottom = || (0..100_000).fold(json!("x"), |inner, _| Value::Array(vec![inner]));
    let spec = request.parent.field("spec").unwrap_or_default();
    let mut response = SyncResponse::new();
    match spec["act"].as_str() {
        Some("rant") => return Err(Error::msg("no ".repeat(2_000_000))),
        Some("panic-silently") => panic_any(7),
        Some("fall") => response.children.push(without_bottom().into()),
        Some("fall-inside") => response.status = Some(without_bottom()),
        _ => return recipe::sync(request),
    }
    Ok(response)
}

#[operetta_harness::test]
async fn a_failed_handler_changes_no_child() {
    let setup = Setup::of(World::new().await, config(), misbehave).await;
    for (what, act, reason, words) in FAILING {
        setup.survives(what, json!({"act": act, "status": {}}), reason, words).await;
    }
    setup.close().await;
}

/// A description, the child, and the message of the server.
fn refused_by_the_server() -> Vec<(&'static str, Value, &'static str)> {
    let with = |field: &str, value: Value| {
        let mut child = config_map("x", json!({}));
        child["metadata"][field] = value;
        child
    };
    let named = |name: &str| config_map(name, json!({}));
    let mut more = config_map("x", json!({}));
    more["spec"] = json!({"replicas": 1});
    vec![
        ("a name in capitals", named("Not_A_Name"), "422 Invalid"),
        ("annotations of numbers", with("annotations", json!({"a": 1})), "500"),
        ("a list for annotations", with("annotations", json!(["a"])), "500"),
        ("labels of numbers", with("labels", json!({"a": 1})), "500"),
        ("a label that cannot be", with("labels", json!({"a": "no label!"})), "422 Invalid"),
        ("owners that are texts", with("ownerReferences", json!(["x"])), "500"),
        ("finalizers that are numbers", with("finalizers", json!([7])), "500"),
        ("data of numbers", config_map("x", json!({"a": 1})), "500"),
        ("a field that is not there", more, "500"),
    ]
}

#[operetta_harness::test(server)]
async fn a_child_that_the_server_refuses_changes_no_other_child() {
    let setup = Setup::on(World::new().await).await;
    for (what, child, words) in refused_by_the_server() {
        let answer = json!({"children": [child], "status": {}});
        setup.survives(what, answer, "WriteFailed", words).await;
    }
    setup.close().await;
}

/// Ends the computation of a handler, also when the test fails.
#[derive(Debug, Default)]
struct SpinGuard(Arc<AtomicBool>);

impl SpinGuard {
    fn spinner(&self) -> impl Fn(&SyncRequest) -> Result<SyncResponse> + Send + Sync + 'static {
        let is_released = self.0.clone();
        move |request| {
            let spec = request.parent.field("spec").unwrap_or_default();
            while spec["act"] == "spin" && !is_released.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            recipe::sync(request)
        }
    }
}

impl Drop for SpinGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[operetta_harness::test]
async fn a_handler_past_its_deadline_is_reported_and_its_late_answer_is_ignored() {
    let guard = SpinGuard::default();
    let config = config().with_handler_deadline(Duration::from_millis(300));
    let setup = Setup::of(World::new().await, config, guard.spinner()).await;
    let Setup { world, operators } = setup;
    let child = |salt: &str| [config_map("c", json!({"salt": salt}))];
    world.apply(RECIPE, recipe("r", &child("much"))).await;
    world.until_ready(RECIPE, "r").await;
    let before = world.get(CONFIG_MAP, "c").await;
    let failure = ExpectedFailure::before(&world, &operators, "cook", "HandlerTimeout").await;
    world.apply(RECIPE, acting("r", "spin")).await;
    failure.until_reported("r", "has not returned within 0.3 s").await;
    let reconciles = operators.reconciles("cook", &world.namespace, "r");
    world.apply(RECIPE, recipe("r", &child("none"))).await;
    // Another parent is reconciled meanwhile. It comes after the change on the watch, so that no retry has the
    // spec without children.
    world.apply(RECIPE, recipe("other", &[config_map("o", json!({}))])).await;
    world.until_ready(RECIPE, "other").await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, before, "the child is not modified");
    drop(guard);
    operators.until_reconciles("cook", &world.namespace, "r", reconciles + 2).await;
    world.until_ready(RECIPE, "r").await;
    let after = world.get(CONFIG_MAP, "c").await;
    assert_eq!(after["data"]["salt"], "none");
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"], "it was not deleted");
    operators.stop().await;
}
