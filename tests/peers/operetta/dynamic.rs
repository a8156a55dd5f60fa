//! `Greeting` with Operetta, without Rust types: the parent, its `ConfigMap` and its status are JSON.

#![allow(clippy::unnecessary_wraps, reason = "a handler may fail")]

// ANCHOR: operator
use k8s_openapi::api::core::v1::ConfigMap;
use operetta::{prelude::*, supervisor::run_operator};
use serde_json::json;

fn sync(request: &SyncRequest) -> Result<SyncResponse> {
    let spec = request.parent.field("spec").unwrap_or_default();
    let status = json!({"greeted": request.children::<ConfigMap>().len()});
    Ok(SyncResponse::status(status).child(json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": request.parent.name()},
        "data": {"hello": spec["name"]},
    })))
}

fn main() -> Result<()> {
    let greeting = K8sType::namespaced("example.dev/v1", "Greeting", "greetings");
    let config = OperatorConfig::new("greeter", greeting).child::<ConfigMap>(ChildConfig::apply());
    Ok(run_operator(config, sync)?)
}
// ANCHOR_END: operator
