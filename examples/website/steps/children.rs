// A `Website` is a page, a web server that shows it, and an address for that.

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, Service},
};
use kube::{CustomResource, ResourceExt};
use operetta::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

/// A page on the web.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Website")]
#[kube(namespaced, status = "WebsiteStatus")]
// ANCHOR: spec
struct WebsiteSpec {
    /// The page, in HTML.
    html: String,
    /// How many Pods show it; none if the website is switched off.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 10))]
    replicas: i32,
}

fn one() -> i32 {
    1
}
// ANCHOR_END: spec

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default)]
#[serde(default)]
struct WebsiteStatus {
    conditions: Conditions,
}

// ANCHOR: sync
/// What should exist for a website.
fn sync(request: &SyncRequest<Website>) -> Result<SyncResponse> {
    let website = &request.parent;
    let response = SyncResponse::new().child(page(website)).ensure(token(website));
    if website.spec.replicas == 0 {
        return Ok(response);
    }
    Ok(response.child(deployment(website)).child(service(website)))
}

fn config() -> OperatorConfig {
    OperatorConfig::custom::<Website>("website")
        .child::<ConfigMap>(ChildConfig::apply())
        .child::<Secret>(ChildConfig::apply())
        .child::<Deployment>(ChildConfig::apply())
        .child::<Service>(ChildConfig::apply())
}
// ANCHOR_END: sync

fn page(website: &Website) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": website.name_any()},
        "data": {"index.html": website.spec.html},
    })
}

// ANCHOR: children
/// With it editors see drafts.
fn token(website: &Website) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": website.name_any()},
        "stringData": {"token": Uuid::new_v4().to_string()},
    })
}

fn deployment(website: &Website) -> Value {
    let name = website.name_any();
    let token = json!({"secretKeyRef": {"name": name, "key": "token"}});
    let container = json!({
        "name": "nginx",
        "image": "nginx:1.29",
        "env": [{"name": "DRAFT_TOKEN", "valueFrom": token}],
        "volumeMounts": [{"name": "page", "mountPath": "/usr/share/nginx/html"}],
    });
    let volume = json!({"name": "page", "configMap": {"name": name}});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": website.spec.replicas,
            "selector": {"matchLabels": {"website": name}},
            "template": {
                "metadata": {"labels": {"website": name}},
                "spec": {"containers": [container], "volumes": [volume]},
            },
        },
    })
}
// ANCHOR_END: children

fn service(website: &Website) -> Value {
    let name = website.name_any();
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": {"website": name}, "ports": [{"port": 80}]},
    })
}

fn main() -> std::process::ExitCode {
    operetta::cli::run(Supervisor::builder().register(config(), sync))
}
