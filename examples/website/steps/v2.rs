//! `v2`: what the operator works with, and what is stored.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{page::Page, reported::WebsiteStatus};

/// A page on the web.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
#[kube(group = "example.dev", version = "v2", kind = "Website")]
#[kube(namespaced, status = "WebsiteStatus")]
#[kube(printcolumn(name = "URL", type_ = "string", json_path = ".status.url"))]
#[kube(printcolumn(name = "Pods", type_ = "integer", json_path = ".status.readyPods"))]
#[kube(printcolumn(
    name = "Ready",
    type_ = "string",
    json_path = r#".status.conditions[?(@.type=="Ready")].status"#
))]
// ANCHOR: spec
#[kube(validation = Rule::new("has(self.spec.host) == has(oldSelf.spec.host) \
    && (!has(self.spec.host) || self.spec.host == oldSelf.spec.host)")
    .message("it cannot be changed").field_path(".spec.host"))]
pub(crate) struct WebsiteSpec {
    /// What is shown.
    pub(crate) page: Page,
    /// The name in the zone; the names of the website and of its namespace without it.
    #[schemars(length(max = 63), pattern("^[a-z0-9][a-z0-9.-]*$"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<String>,
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
