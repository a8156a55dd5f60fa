//! A `Worker` takes messages from a queue: a Pod that does it, and the Service where it is measured.
//!
//! It is written for roperator 0.3, with two functions: one for what should be, one for what went wrong.

#![allow(clippy::needless_pass_by_value, reason = "the signature of roperator")]

use std::{env, process, time::Duration};

use roperator::{
    config::{ClientConfig, Credentials, KubeConfig},
    prelude::{ChildConfig, Error, K8sType, OperatorConfig, SyncRequest, SyncResponse, k8s_types},
    runner::run_operator_with_client_config,
    serde_json::{Value, json},
};
use serde::Deserialize;

const NAME: &str = "queue-workers";

static WORKER: &K8sType =
    &K8sType { api_version: "programs.operetta.dev/v1", kind: "Worker", plural_kind: "workers" };

/// What this program reads of a `Worker`.
#[derive(Deserialize)]
struct Worker {
    spec: Spec,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    queue: String,
    #[serde(default = "one")]
    at_once: u8,
}

fn one() -> u8 {
    1
}

fn main() {
    env_logger::init();
    let config = OperatorConfig::new(NAME, WORKER)
        .with_child(k8s_types::core::v1::Service, ChildConfig::replace())
        .with_child(k8s_types::core::v1::Pod, ChildConfig::recreate());
    let end = run_operator_with_client_config(config, connection(), (sync, on_error));
    log::warn!("{NAME} has ended: {end}");
    process::exit(1);
}

/// With the token in `WORKER_TOKEN` if there is one, else as the user of the kubeconfig.
fn connection() -> ClientConfig {
    let config = match env::var("WORKER_TOKEN") {
        Err(_) => ClientConfig::from_kubeconfig(NAME.to_owned()),
        Ok(token) => {
            let (kubeconfig, file) = KubeConfig::load().expect("there is a kubeconfig");
            kubeconfig.create_client_config_with_credentials(
                NAME.to_owned(),
                file.parent().expect("a file is in a folder"),
                Credentials::base64_bearer_token(token),
            )
        }
    };
    config.expect("the kubeconfig names a cluster")
}

fn sync(request: &SyncRequest) -> Result<SyncResponse, Error> {
    log::debug!("{request:?}");
    let Worker { spec } = request.deserialize_parent()?;
    let children = vec![pod(request, &spec), service(request)];
    Ok(SyncResponse { status: json!({"stage": stage(request)}), children, resync: None })
}

fn on_error(request: &SyncRequest, error: Error) -> (Value, Option<Duration>) {
    log::warn!("{} cannot work: {error:?}", request.parent.name());
    (json!({"stage": "Broken", "why": error.to_string()}), None)
}

/// What the Pod says of itself.
fn stage(request: &SyncRequest) -> String {
    let Some(pod) = request.children().of_type(("v1", "Pod")).first() else {
        return "Hired".to_owned();
    };
    let reason = pod.pointer("/status/reason").and_then(Value::as_str);
    reason.map_or_else(|| "Working".to_owned(), |reason| format!("Stopped: {reason}"))
}

fn pod(request: &SyncRequest, spec: &Spec) -> Value {
    let (name, namespace) = (request.parent.name(), request.parent.namespace());
    let arguments = [format!("--queue={}", spec.queue), format!("--at-once={}", spec.at_once)];
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"worker": name}},
        "spec": {"containers": [{
            "name": "worker", "image": "registry.example/worker:3", "args": arguments,
            "ports": [{"name": "metrics", "containerPort": 9102}],
        }]},
    })
}

fn service(request: &SyncRequest) -> Value {
    let (name, namespace) = (request.parent.name(), request.parent.namespace());
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "clusterIP": "None",
            "ports": [{"name": "metrics", "port": 9102, "targetPort": "metrics"}],
            "selector": {"worker": name},
        },
    })
}
