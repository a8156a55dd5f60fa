//! What exists for each `Scaffold`: a Deployment, and a Service with its address.

use k8s_openapi::api::{apps::v1::Deployment, core::v1::Service};
use kube::CustomResource;
use operetta::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A server with an address in the cluster.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
#[kube(group = "scaffold.example.dev", version = "v1alpha1", kind = "Scaffold")]
#[kube(namespaced, status = "ScaffoldStatus")]
#[kube(printcolumn(name = "URL", type_ = "string", json_path = ".status.url"))]
pub struct ScaffoldSpec {
    /// The image of the server.
    pub image: String,
    /// The port at which it listens.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
}

/// What is known of a `Scaffold`.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default, PartialEq)]
#[serde(default)]
pub struct ScaffoldStatus {
    /// Where it is served.
    pub url: String,
    /// `Synced` and `Ready` are kept by the framework.
    pub conditions: Conditions,
}

/// What should exist for a `Scaffold`. It is called again whenever the parent or a child changes, and returns all of it
/// each time.
///
/// # Errors
/// None: a handler that needs some returns them with `?`.
pub fn sync(request: &SyncRequest<Scaffold>) -> Result<SyncResponse<ScaffoldStatus>> {
    let Scaffold { metadata, spec, .. } = &request.parent;
    let name = metadata.name.as_deref().unwrap_or_default();
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    let labels = json!({"app.kubernetes.io/instance": name, "app.kubernetes.io/name": "scaffold"});
    let deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{
                    "name": "server",
                    "image": spec.image,
                    "ports": [{"name": "http", "containerPort": spec.port}],
                }]},
            },
        },
    });
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "labels": labels},
        "spec": {"selector": labels, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]},
    });
    let status = ScaffoldStatus {
        url: format!("http://{name}.{namespace}.svc"),
        ..ScaffoldStatus::default()
    };
    Ok(SyncResponse::status(status)
        .child(deployment)
        // Only a start: `kubectl scale` and autoscalers may change it.
        .initial_field("/spec/replicas")
        .child(service))
}

/// Which parents and children there are, and how they are treated.
#[must_use]
pub fn config() -> OperatorConfig {
    OperatorConfig::custom::<Scaffold>("scaffold")
        .child::<Deployment>(ChildConfig::apply())
        .child::<Service>(ChildConfig::apply())
}
