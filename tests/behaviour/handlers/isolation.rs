//! A failure of one parent does not affect others.

use std::{
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Sender, channel},
    },
    time::Duration,
};

use operetta::{
    operator::{AnyHandler, IntoHandler},
    prelude::*,
};
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, acting, config_map, recipe},
    world::{CONFIG_MAP, ECHO, Operators, World, condition, eventually},
};

/// Asserts that a failing handler changes no child, is reported on the parent and the web endpoint, does not
/// affect other parents and operators, and that a fix is applied at once.
async fn assert_isolated(act: &str, reason: &str, message: &str) {
    for handler in recipe::of_both_kinds() {
        assert_isolates(handler, act, reason, message).await;
    }
}

async fn assert_isolates(handler: AnyHandler, act: &str, reason: &str, message: &str) {
    let is_blocked = act == "hang" && format!("{handler:?}").contains("blocking");
    let world = World::new().await;
    let config = recipe::config("cook");
    let config = match act {
        "hang" => config.with_handler_deadline(Duration::from_millis(300)),
        _ => config,
    };
    let operators = world
        .start(|builder| {
            let builder = operators::register_all(builder, operators::all());
            builder.register(config, handler)
        })
        .await;
    world.apply(RECIPE, recipe("bad", &[config_map("c", json!({}))])).await;
    world.until_ready(RECIPE, "bad").await;
    let child = world.get(CONFIG_MAP, "c").await;
    world.apply(RECIPE, acting("bad", act)).await;
    let reports_why = |parent: &Value| condition(parent, "Ready")["reason"] == reason;
    let parent = world.until(RECIPE, "bad", "the reason", reports_why).await;
    let text = condition(&parent, "Ready")["message"].as_str().unwrap().to_owned();
    assert!(text.contains(message), "{text}");
    let path = format!("/api/v1/operators/cook/parents/{}/bad", world.namespace);
    let (code, body) = eventually(
        "the reason over HTTP",
        || operators.http(&path),
        |(_, body)| body.contains(message),
    )
    .await;
    assert_eq!(code, 200, "{body}");
    // Other parents of the operator, and the other operator, continue.
    world.apply(RECIPE, recipe("good", &[config_map("d", json!({}))])).await;
    world.until_ready(RECIPE, "good").await;
    world.apply(ECHO, json!({"metadata": {"name": "a"}, "spec": {"serviceName": "x"}})).await;
    world.until_synced(ECHO, "a").await;
    assert_eq!(world.get(CONFIG_MAP, "c").await, child, "the child is not modified");
    let (code, alive) = operators.http("/livez?verbose").await;
    assert_eq!(code, 200, "{alive}");
    for turning in ["operator/cook", "operator/echo-server", "reflector/configmaps", "runtime"] {
        assert!(alive.contains(&format!("[+]{turning} ok\n")), "{alive}");
    }
    if !is_blocked {
        let fixed = recipe("bad", &[config_map("c", json!({"fixed": "yes"}))]);
        world.apply(RECIPE, fixed).await;
        world.until_ready(RECIPE, "bad").await;
        assert_eq!(world.get(CONFIG_MAP, "c").await["data"]["fixed"], "yes");
    }
    let stopped = tokio::time::timeout(Duration::from_mins(1), operators.stop()).await;
    stopped.expect("the shutdown waits for no handler");
}

#[operetta_harness::test]
async fn a_panic_of_a_handler_affects_only_its_parent() {
    assert_isolated("panic", "HandlerPanicked", "the kitchen burns").await;
}

#[operetta_harness::test]
async fn a_handler_that_never_returns_hurts_only_its_parent() {
    assert_isolated("hang", "HandlerTimeout", "has not returned within").await;
}

/// An operator of echo servers whose first two reconciles wait for each other.
fn meeting(limit: usize) -> (OperatorConfig, AnyHandler) {
    let (met, begun) = (Arc::new(Barrier::new(2)), AtomicUsize::new(0));
    let parent = K8sType::namespaced(ECHO.0, ECHO.1, ECHO.2);
    let sync = move |_: &SyncRequest| -> Result<SyncResponse> {
        if begun.fetch_add(1, Ordering::Relaxed) < 2 {
            met.wait();
        }
        Ok(SyncResponse::status(json!({})))
    };
    (
        OperatorConfig::new("meeting", parent).with_max_concurrent_reconciles(limit),
        sync.into_handler(),
    )
}

#[operetta_harness::test]
async fn handlers_that_never_return_take_no_places_from_other_operators() {
    const LIMIT: usize = 2;
    let world = World::new().await;
    let (meeting, meet) = meeting(LIMIT);
    let cook = recipe::config("cook").with_max_concurrent_reconciles(LIMIT);
    let operators =
        world.start(|builder| builder.register(cook, recipe::sync).register(meeting, meet)).await;
    for number in 0..LIMIT {
        world.apply(RECIPE, acting(&format!("bad-{number}"), "hang")).await;
    }
    let metrics = || async { operators.running().metrics().render() };
    let hang = format!("operetta_reconciles_in_flight{{operator=\"cook\"}} {LIMIT}\n");
    eventually("all its permits taken", metrics, |metrics| metrics.contains(&hang)).await;
    for name in ["a", "b"] {
        world.apply(ECHO, json!({"metadata": {"name": name}, "spec": {"serviceName": "x"}})).await;
    }
    for name in ["a", "b"] {
        world.until_synced(ECHO, name).await;
    }
    assert!(metrics().await.contains(&hang), "none has returned");
    operators.stop().await;
}

/// An operator with one permit, whose first call returns when it is released. Also an asynchronous handler may
/// block its thread: it cannot be dropped then.
fn stuck(is_async: bool) -> (OperatorConfig, AnyHandler, Sender<()>) {
    let (release, released) = channel();
    let released = Mutex::new(Some(released));
    let sync = move |request: &SyncRequest| -> Result<SyncResponse> {
        let first = released.lock().unwrap().take();
        if let Some(released) = first {
            let _ = released.recv();
        }
        recipe::sync(request)
    };
    let config = recipe::config("cook")
        .with_max_concurrent_reconciles(1)
        .with_handler_deadline(Duration::from_millis(300));
    let sync = Arc::new(sync);
    let sync_async = {
        let sync = sync.clone();
        move |request: SyncRequest| {
            let sync = sync.clone();
            async move { sync(&request) }
        }
    };
    let sync = move |request: &SyncRequest| sync(request);
    let handler = if is_async { sync_async.into_handler() } else { sync.into_handler() };
    (config, handler, release)
}

#[operetta_harness::test]
async fn an_operator_is_degraded_while_overdue_handlers_hold_all_its_permits() {
    for is_async in [false, true] {
        assert_degraded_by(stuck(is_async)).await;
    }
}

async fn assert_degraded_by((config, handler, release): (OperatorConfig, AnyHandler, Sender<()>)) {
    let world = World::new().await;
    let operators = world.start(|builder| builder.register(config, handler)).await;
    world.apply(RECIPE, recipe("stuck", &[])).await;
    let ready = || operators.http("/readyz/cook");
    let reason = "1 of 1 concurrent reconciles are blocked by handlers past their deadline";
    let (code, body) = eventually("the reason", ready, |(_, body)| body.contains(reason)).await;
    assert_eq!(code, 503, "{body}");
    assert_eq!(operators.http("/readyz").await.0, 200, "of the process");
    world.apply(RECIPE, recipe("other", &[])).await;
    let path = format!("/api/v1/operators/cook/parents/{}/other", world.namespace);
    let why = || operators.http(&path);
    eventually("why another parent waits", why, |(_, body)| body.contains(reason)).await;
    let overdue = |count: u8| format!("operetta_handlers_overdue{{operator=\"cook\"}} {count}\n");
    until_metric(&operators, &overdue(1)).await;
    until_metric(&operators, "operetta_operator_up{operator=\"cook\"} 0\n").await;
    release.send(()).unwrap();
    eventually("recovery", ready, |(code, _)| *code == 200).await;
    world.until_ready(RECIPE, "other").await;
    until_metric(&operators, &overdue(0)).await;
    operators.stop().await;
}

async fn until_metric(operators: &Operators, line: &str) {
    let metrics = || operators.http("/metrics");
    eventually(line, metrics, |(_, body)| body.contains(line)).await;
}
