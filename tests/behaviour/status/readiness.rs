//! `Synced` and `Ready`: everything desired is written, and all children are ready. No test server has a kubelet, so
//! the tests write the statuses of Pods.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{Patch, PatchParams};
use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{self, RECIPE, acting, config_map, recipe},
    world::{Operators, POD, World, condition, eventually},
};

fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "example.dev/c:1"}]},
    })
}

async fn start(world: &World, pods: ChildConfig) -> Operators {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    let config = OperatorConfig::new("cook", parent)
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Pod>(pods)
        .with_error_backoff(Duration::from_millis(100), Duration::from_mins(1));
    world.start(|builder| builder.register(config, recipe::handler())).await
}

/// Reports as the kubelet does.
async fn report(world: &World, name: &str, ready: &str, reason: &str) {
    let condition = json!({"type": "Ready", "status": ready, "reason": reason});
    let status = json!({"status": {"phase": "Running", "conditions": [condition]}});
    let params = PatchParams::default();
    world.api(POD).patch_status(name, &params, &Patch::Merge(status)).await.unwrap();
}

/// Waits until the parent is synced, and ready or not for this reason.
async fn until(world: &World, status: &str, reason: &str, words: &str) -> Value {
    let is_it = |parent: &Value| {
        let (synced, ready) = (condition(parent, "Synced"), condition(parent, "Ready"));
        synced["status"] == "True"
            && (&ready["status"], &ready["reason"]) == (&json!(status), &json!(reason))
            && ready["observedGeneration"] == parent["metadata"]["generation"]
            && ready["message"].as_str().is_some_and(|message| message.contains(words))
    };
    world.until(RECIPE, "r", &format!("Ready={status}, {reason}: {words}"), is_it).await
}

/// Waits until the phase of the parent over HTTP, the metric and the explanation follow.
async fn until_shown(world: &World, operators: &Operators, phase: &str, words: &str) {
    let path = format!("/api/v1/operators/cook/parents/{}/r", world.namespace);
    let shown = || async {
        let (_, body) = operators.http(&path).await;
        serde_json::from_str::<Value>(&body).unwrap_or_default()
    };
    let is_it = |shown: &Value| shown["phase"] == phase && shown["why"].to_string().contains(words);
    eventually(&format!("{phase}: {words}"), shown, is_it).await;
    let line = format!("operetta_parents{{operator=\"cook\",phase=\"{phase}\"}} 1");
    let is_counted = |metrics: &(u16, String)| metrics.1.lines().any(|shown| shown == line);
    eventually(&line, || operators.http("/metrics"), is_counted).await;
}

/// How often the operators wrote something.
async fn writes(world: &World) -> usize {
    world.our_requests().await.iter().filter(|request| request.is_write()).count()
}

#[operetta_harness::test(server)]
async fn a_parent_is_ready_while_its_children_are() {
    let world = World::that_logs_requests().await;
    let operators = start(&world, ChildConfig::apply()).await;
    let children = [pod("d"), pod("e"), config_map("c", json!({}))];
    world.apply(RECIPE, recipe("r", &children)).await;
    world.until_synced(RECIPE, "r").await;
    until(&world, "False", "ChildrenNotReady", "/e: it has not been scheduled yet").await;
    until_shown(&world, &operators, "synced", "Pod ").await;
    report(&world, "e", "True", "").await;
    let is_only_d = |parent: &Value| {
        let message = condition(parent, "Ready")["message"].to_string();
        message.contains("/d: ") && !message.contains("/e: ")
    };
    world.until(RECIPE, "r", "only d is not ready", is_only_d).await;
    for _ in 0..2 {
        operators.running().settled().await;
        let before = writes(&world).await;
        report(&world, "d", "True", "").await;
        world.until_ready(RECIPE, "r").await;
        until_shown(&world, &operators, "ready", "up to date and ready").await;
        report(&world, "d", "False", "ContainersNotReady").await;
        until(&world, "False", "ChildrenNotReady", "ContainersNotReady").await;
        until_shown(&world, &operators, "synced", "ContainersNotReady").await;
        operators.running().settled().await;
        assert_eq!(writes(&world).await, before + 2, "one for each change");
    }
    world.apply(RECIPE, acting("r", "fail")).await;
    let has_failed = |parent: &Value| {
        ["Synced", "Ready"].iter().all(|ty| condition(parent, ty)["reason"] == "HandlerFailed")
    };
    world.until(RECIPE, "r", "both False, HandlerFailed", has_failed).await;
    operators.stop().await;
}
