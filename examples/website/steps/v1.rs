//! `v1`: what the first clients read and write.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reported::WebsiteStatus;

/// A page on the web.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v1", kind = "Website")]
#[kube(namespaced, status = "WebsiteStatus")]
#[kube(printcolumn(name = "URL", type_ = "string", json_path = ".status.url"))]
#[kube(printcolumn(name = "Pods", type_ = "integer", json_path = ".status.readyPods"))]
#[kube(printcolumn(
    name = "Ready",
    type_ = "string",
    json_path = r#".status.conditions[?(@.type=="Ready")].status"#
))]
// ANCHOR: spec
#[serde(rename_all = "camelCase")]
pub(crate) struct WebsiteSpec {
    /// The page, in HTML.
    #[serde(default)]
    pub(crate) html: String,
    /// The name of a `ConfigMap` with an `index.html` that is shown instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content_from: Option<String>,
    // ANCHOR_END: spec
    /// The name of a theme.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) theme: Option<String>,
    /// How many Pods show it; none if the website is switched off.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 10))]
    pub(crate) replicas: i32,
}

fn one() -> i32 {
    1
}
