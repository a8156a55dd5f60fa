//! Handlers that give no answer at all, and answers that only the server can refuse.

use std::{
    panic::panic_any,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use operetta::prelude::*;
use serde_json::{Value, json};

use super::{Setup, config};
use crate::{
    recipe::{self, RECIPE, acting, config_map, recipe},
    told::Trouble,
    world::{CONFIG_MAP, World},
};

/// What it is, what the handler does, and what is said about that.
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

/// Does more that no handler should do than recipes know.
fn misbehave(request: &SyncRequest) -> Result<SyncResponse> {
    let without_bottom = || (0..100_000).fold(json!("x"), |inner, _| Value::Array(vec![inner]));
    let spec = request.parent.field("spec").unwrap_or_default();
    let mut response = SyncResponse::new();
    match spec["act"].as_str() {
        Some("rant") => return Err(Error::msg("no ".repeat(2_000_000))),
        Some("panic-silently") => panic_any(7),
        Some("fall") => response.children.push(without_bottom()),
        Some("fall-inside") => response.status = Some(without_bottom()),
        _ => return recipe::sync(request),
    }
    Ok(response)
}

#[operetta_harness::test]
async fn a_handler_that_gives_no_answer_changes_no_child() {
    let setup = Setup::of(World::new().await, config(), misbehave).await;
    for (what, act, reason, words) in FAILING {
        setup.survives(what, json!({"act": act, "status": {}}), reason, words).await;
    }
    setup.close().await;
}

/// What it is, the child, and what the server says about it.
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

#[operetta_harness::test]
async fn what_only_the_server_refuses_changes_no_other_child() {
    let setup = Setup::on(World::new().await).await;
    for (what, child, words) in refused_by_the_server() {
        let answer = json!({"children": [child], "status": {}});
        setup.survives(what, answer, "WriteFailed", words).await;
    }
    setup.close().await;
}

/// Computes until it is let go, as it is when the test ends however it ends.
#[derive(Debug, Default)]
struct Leash(Arc<AtomicBool>);

impl Leash {
    fn spinner(&self) -> impl Fn(&SyncRequest) -> Result<SyncResponse> + Send + Sync + 'static {
        let is_let_go = self.0.clone();
        move |request| {
            let spec = request.parent.field("spec").unwrap_or_default();
            while spec["act"] == "spin" && !is_let_go.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            recipe::sync(request)
        }
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[operetta_harness::test]
async fn a_handler_that_computes_for_ever_is_said_and_its_late_answer_is_not_followed() {
    let leash = Leash::default();
    let config = config().with_handler_deadline(Duration::from_millis(300));
    let setup = Setup::of(World::new().await, config, leash.spinner()).await;
    let Setup { world, operators } = setup;
    let child = |salt: &str| [config_map("c", json!({"salt": salt}))];
    world.apply(RECIPE, recipe("r", &child("much"))).await;
    world.until_ready(RECIPE, "r").await;
    let before = world.get(CONFIG_MAP, "c").await;
    let trouble = Trouble::ahead(&world, &operators, "cook", "HandlerTimeout").await;
    world.apply(RECIPE, acting("r", "spin")).await;
    trouble.until_told("r", "has not returned within 0.3 s").await;
    // Another parent goes on beside it.
    world.apply(RECIPE, recipe("other", &[config_map("o", json!({}))])).await;
    world.until_ready(RECIPE, "other").await;
    let runs = operators.runs("cook", &world.namespace, "r");
    world.apply(RECIPE, recipe("r", &child("none"))).await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, before, "the child stays exactly as it is");
    drop(leash);
    operators.until_reconciles("cook", &world.namespace, "r", runs + 2).await;
    world.until_ready(RECIPE, "r").await;
    let after = world.get(CONFIG_MAP, "c").await;
    assert_eq!(after["data"]["salt"], "none");
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"], "never deleted meanwhile");
    operators.stop().await;
}
