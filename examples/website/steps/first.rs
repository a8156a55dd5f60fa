// A `Website` is a `ConfigMap` with its page.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use operetta::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A page on the web.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Website")]
#[kube(namespaced, status = "WebsiteStatus")]
struct WebsiteSpec {
    /// The page, in HTML.
    html: String,
}

#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default)]
#[serde(default)]
struct WebsiteStatus {
    conditions: Conditions,
}

/// What should exist for a website.
fn sync(request: &SyncRequest<Website>) -> Result<SyncResponse> {
    let website = &request.parent;
    Ok(SyncResponse::new().child(json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": website.metadata.name},
        "data": {"index.html": website.spec.html},
    })))
}

fn config() -> OperatorConfig {
    OperatorConfig::custom::<Website>("website").child::<ConfigMap>(ChildConfig::apply())
}

fn main() -> std::process::ExitCode {
    operetta::cli::run(Supervisor::builder().register(config(), sync))
}
