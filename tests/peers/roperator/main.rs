//! `Greeting` with roperator 0.3. It is built with `operetta-roperator`, which has roperator's public names.

#![allow(
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    reason = "roperator asks for it"
)]

use std::time::Duration;

// ANCHOR: operator
use roperator::prelude::*;
use roperator::serde_json::{Value, json};

static GREETING: &K8sType =
    &K8sType { api_version: "example.dev/v1", kind: "Greeting", plural_kind: "greetings" };

fn sync(request: &SyncRequest) -> Result<SyncResponse, Error> {
    let config_maps = request.children().of_type(k8s_types::core::v1::ConfigMap);
    let config_map = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"namespace": request.parent.namespace(), "name": request.parent.name()},
        "data": {"hello": request.parent.str_value("/spec/name")},
    });
    let status = json!({"greeted": config_maps.count()});
    Ok(SyncResponse { status, children: vec![config_map], resync: None })
}

fn on_error(_: &SyncRequest, error: Error) -> (Value, Option<Duration>) {
    (json!({"error": error.to_string()}), None)
}

fn main() {
    let config = OperatorConfig::new("greeter", GREETING)
        .with_child(k8s_types::core::v1::ConfigMap, ChildConfig::replace());
    let error = roperator::runner::run_operator(config, (sync, on_error));
    eprintln!("{error}");
    std::process::exit(1);
}
// ANCHOR_END: operator
