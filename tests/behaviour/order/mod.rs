//! Children that are written stage by stage. No test server has a kubelet, so the tests write the statuses of Pods.

mod restarts;
mod stages;

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{Patch, PatchParams};
use operetta::prelude::*;
use serde_json::{Value, json};

use crate::{
    recipe::{RECIPE, config_map},
    world::{CONFIG_MAP, Operators, POD, World, condition},
};

/// Returns the lists of children in `spec.stages`.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let spec = request.parent.field("spec").unwrap_or_default();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut response = SyncResponse::status(json!({}));
    for (number, stage) in list(&spec["stages"]).iter().enumerate() {
        if number > 0 {
            response = response.then();
        }
        response = response.children(list(stage));
    }
    Ok(response)
}

fn config() -> OperatorConfig {
    let parent = K8sType::namespaced(RECIPE.0, RECIPE.1, RECIPE.2);
    OperatorConfig::new("cook", parent)
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Pod>(ChildConfig::apply())
        .with_error_backoff(Duration::from_millis(100), Duration::from_secs(1))
}

async fn start(world: &World) -> Operators {
    world.start(|builder| builder.register(config(), sync)).await
}

/// A parent with these stages.
fn staged(name: &str, stages: &[&[Value]]) -> Value {
    json!({"metadata": {"name": name}, "spec": {"stages": stages, "status": {}}})
}

fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "example.dev/c:1"}]},
    })
}

/// Reports as the kubelet does.
async fn report(world: &World, name: &str, ready: &str) {
    let condition = json!({"type": "Ready", "status": ready, "reason": "ItIsTested"});
    let status = json!({"status": {"phase": "Running", "conditions": [condition]}});
    let params = PatchParams::default();
    world.api(POD).patch_status(name, &params, &Patch::Merge(status)).await.unwrap();
}

/// Waits until the parent `r` is not synced, because a child waits with these words.
async fn until_waiting(world: &World, words: &str) {
    let is_it = |parent: &Value| {
        let synced = condition(parent, "Synced");
        (&synced["status"], &synced["reason"]) == (&json!("False"), &json!("Waiting"))
            && synced["observedGeneration"] == parent["metadata"]["generation"]
            && synced["message"].as_str().is_some_and(|message| message.contains(words))
    };
    world.until(RECIPE, "r", words, is_it).await;
}
