//! The kustomizations: their resources, and what an overlay or a component changes of the Deployment of the base.

use serde_json::{Value, json};

use super::{leader, setting::Setting, shards, tls};
use crate::cli::deployed::Deployed;

/// The container of the Deployment.
const CONTAINER: &str = "/spec/template/spec/containers/0";

/// The operators whose parents have a namespace, in that of their process. It answers no webhooks, as these are of the whole
/// cluster.
pub(super) fn one_namespace(deployed: &Deployed, configurations: &[Value]) -> Value {
    let namespace = argument(&format!("--namespaces={}", deployed.namespace));
    let mut overlay = overlay(deployed, &["../../base", "rbac.yaml"], &[namespace]);
    let removed = configurations.iter().map(|configuration| {
        let mut patch = json!({"$patch": "delete"});
        for field in ["apiVersion", "kind"] {
            patch[field] = configuration[field].clone();
        }
        patch["metadata"]["name"] = configuration["metadata"]["name"].clone();
        json!({"patch": patch.to_string()})
    });
    if let Some(patches) = overlay["patches"].as_array_mut() {
        patches.extend(removed);
    }
    overlay
}

/// One process works, and the other continues when it goes.
pub(super) fn two_replicas(deployed: &Deployed) -> Value {
    let strategy = json!({"type": "RollingUpdate"});
    let changes = several(2, &strategy, &leader::variables(), &leader::args());
    overlay(deployed, &["../cluster-wide", "leader.yaml"], &changes)
}

/// Three processes work, each for some of the parents.
pub(super) fn sharded(deployed: &Deployed) -> Value {
    let changes = several(3, &shards::strategy(), &shards::variables(), &shards::args());
    overlay(deployed, &["../cluster-wide", "shards.yaml"], &changes)
}

/// More processes, with these variables and further arguments.
fn several(replicas: u8, strategy: &Value, variables: &Value, args: &[String]) -> Vec<Value> {
    let mut changes = vec![
        json!({"op": "replace", "path": "/spec/replicas", "value": replicas}),
        json!({"op": "replace", "path": "/spec/strategy", "value": strategy}),
        json!({"op": "add", "path": format!("{CONTAINER}/env"), "value": variables}),
    ];
    changes.extend(args.iter().map(|it| argument(it)));
    changes
}

/// Serves the certificate of the Secret.
pub(super) fn certified(setting: &Setting) -> [Value; 5] {
    let [certificate, key] = tls::args();
    let at = self_signed(setting);
    let added = |path: &str, value: Value| json!({"op": "add", "path": path, "value": value});
    [
        is_at(setting, tls::SELF_SIGNED),
        json!({"op": "replace", "path": format!("{CONTAINER}/args/{at}"), "value": certificate}),
        added(&format!("{CONTAINER}/args/{}", at + 1), json!(key)),
        added(&format!("{CONTAINER}/volumeMounts/-"), tls::mount()),
        added("/spec/template/spec/volumes/-", tls::volume(&setting.secret)),
    ]
}

/// Fails unless the argument is where that of the self-signed certificate was.
pub(super) fn is_at(setting: &Setting, argument: &str) -> Value {
    let path = format!("{CONTAINER}/args/{}", self_signed(setting));
    json!({"op": "test", "path": path, "value": argument})
}

fn self_signed(setting: &Setting) -> usize {
    let mut args = setting.args.as_array().into_iter().flatten();
    args.position(|arg| arg == tls::SELF_SIGNED).unwrap_or_default()
}

fn argument(argument: &str) -> Value {
    json!({"op": "add", "path": format!("{CONTAINER}/args/-"), "value": argument})
}

/// A component with these changes of the Deployment.
pub(super) fn component(deployed: &Deployed, fields: Value, changes: &[Value]) -> Value {
    kustomization("Component", changing(deployed, fields, changes))
}

/// An overlay of these resources with these changes of the Deployment.
pub(super) fn overlay(deployed: &Deployed, resources: &[&str], changes: &[Value]) -> Value {
    kustomization("Kustomization", changing(deployed, json!({"resources": resources}), changes))
}

/// Changes the Deployment of other resources.
fn changing(deployed: &Deployed, mut fields: Value, changes: &[Value]) -> Value {
    if !changes.is_empty() {
        let target = json!({"kind": "Deployment", "name": deployed.name});
        fields["patches"] = json!([{"target": target, "patch": json!(changes).to_string()}]);
    }
    fields
}

/// A file `kustomization.yaml`.
pub(super) fn kustomization(kind: &str, fields: Value) -> Value {
    let version = if kind == "Component" { "v1alpha1" } else { "v1beta1" };
    let mut whole =
        json!({"apiVersion": format!("kustomize.config.k8s.io/{version}"), "kind": kind});
    if let (Some(whole), Value::Object(fields)) = (whole.as_object_mut(), fields) {
        whole.extend(fields);
    }
    whole
}
