//! The neutral operator: a `ConfigMap`, a Service and a Deployment per parent, about 3.4 KB of JSON
//! with the parent as the server returns them.
//!
//! The Service is headless, because the server has a limited range of addresses; the Deployment
//! has no replicas and is paused, so that other controllers have no work with it. A spec can ask
//! for more `ConfigMaps`.

use anyhow::{Context, Result};
use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Service},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use operetta::{
    object::K8sType,
    operator::{ChildConfig, OperatorConfig, SyncRequest, SyncResponse},
};
use serde_json::{Value, json};

use super::{ParentType, collection};

pub(super) const API_VERSION: &str = "bench.operetta.dev/v1";

/// Brings the total to the size that the figure for memory names.
const SETTINGS: &str = "listen: 0.0.0.0:8080\nlog:\n  level: info\n  format: json\nworkers: 4\n\
    cache:\n  size: 64Mi\n  ttl: 30s\nlimits:\n  requests: 1000\n  connections: 200\nupstream:\n  \
    url: http://upstream.example.com:8080\n  timeout: 5s\n";

pub(super) fn config(name: &str, parent: K8sType) -> OperatorConfig {
    OperatorConfig::new(name, parent)
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Service>(ChildConfig::apply())
        .child::<Deployment>(ChildConfig::apply())
}

pub(super) fn sync(request: &SyncRequest) -> SyncResponse {
    let name = request.parent.name();
    let spec = request.parent.field("spec").unwrap_or_default();
    let more = spec["moreConfigMaps"].as_u64().unwrap_or_default();
    let response = SyncResponse::status(json!({"children": request.children.len()}));
    if spec["alone"] == true {
        return response.child(config_map(name, &spec["mark"]));
    }
    let names = std::iter::once(name.to_owned()).chain((0..more).map(|n| format!("{name}-{n}")));
    response
        .children(names.map(|name| config_map(&name, &spec["mark"])))
        .child(service(name))
        .child(deployment(name))
}

fn config_map(name: &str, mark: &Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": labels(name)},
        "data": {"mark": mark, "settings": SETTINGS},
    })
}

fn service(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "labels": labels(name)},
        "spec": {
            "clusterIP": "None",
            "selector": labels(name),
            "ports": [{"name": "http", "port": 80, "targetPort": 8080}],
        },
    })
}

fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels(name)},
        "spec": {
            "replicas": 0,
            "paused": true,
            "selector": {"matchLabels": labels(name)},
            "template": {
                "metadata": {"labels": labels(name)},
                "spec": {"containers": [{
                    "name": "server",
                    "image": "registry.example.com/server:1.0",
                    "ports": [{"containerPort": 8080}],
                    "env": [{"name": "NAME", "value": name}],
                    "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
                }]},
            },
        },
    })
}

fn labels(name: &str) -> Value {
    json!({"app": name})
}

pub(super) fn spec(mark: &str) -> Value {
    json!({"mark": mark})
}

pub(super) fn children() -> Vec<String> {
    vec![watched(), collection("/api/v1", "services"), collection("/apis/apps/v1", "deployments")]
}

pub(super) fn watched() -> String {
    collection("/api/v1", "configmaps")
}

pub(super) fn mark(config_map: &Value) -> Option<&str> {
    config_map["data"]["mark"].as_str()
}

pub(super) fn edit(mark: &str) -> Value {
    json!({"data": {"mark": mark}})
}

pub(super) fn crd(ty: &ParentType) -> Result<CustomResourceDefinition> {
    let (group, version) = API_VERSION.split_once('/').context("it has a group")?;
    let singular = ty.kind.to_lowercase();
    let text = || json!({"type": "string"});
    let condition = json!({
        "type": "object",
        "required": ["type", "status", "lastTransitionTime", "reason", "message"],
        "properties": {
            "type": text(), "status": text(), "reason": text(), "message": text(),
            "lastTransitionTime": {"type": "string", "format": "date-time"},
            "observedGeneration": {"type": "integer"},
        },
    });
    let spec = json!({
        "mark": text(), "moreConfigMaps": {"type": "integer"}, "alone": {"type": "boolean"},
    });
    let status = json!({
        "children": {"type": "integer"},
        "observedGeneration": {"type": "integer"},
        "conditions": {
            "type": "array", "items": condition,
            "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"],
        },
    });
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    let schema = object(json!({"spec": object(spec), "status": object(status)}));
    Ok(serde_json::from_value(json!({
        "metadata": {"name": format!("{}.{group}", ty.plural)},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {
                "kind": ty.kind, "listKind": format!("{}List", ty.kind),
                "plural": ty.plural, "singular": singular,
            },
            "versions": [{
                "name": version, "served": true, "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    }))?)
}
