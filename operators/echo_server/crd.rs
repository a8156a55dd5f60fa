//! The custom resource `EchoServer`.

#![expect(clippy::duplicated_attributes, reason = "columns may have the same type")]

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desired server.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "example.operetta.dev",
    version = "v1alpha1",
    kind = "EchoServer",
    doc = "An HTTP server that responds with the request that it received, and its Service.",
    namespaced,
    derive = "PartialEq",
    shortname = "echo",
    category = "operetta",
    status = "EchoServerStatus",
    printcolumn(name = "Service", type_ = "string", json_path = ".spec.serviceName"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(name = "Message", type_ = "string", json_path = ".status.message", priority = 1),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
pub struct EchoServerSpec {
    /// The name in the server's responses: a DNS label.
    #[schemars(length(min = 1, max = 63), pattern(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub service_name: String,
}

/// The observed server.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct EchoServerStatus {
    /// The state of the server, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The phase of the Pod: Pending, Running, Succeeded, Failed or Unknown; Error when the
    /// operator cannot process this object, which the message then explains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The address of the server inside the cluster, once its Service exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The metadata.generation that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The conditions, written by the framework: `Synced` shows whether the children are up to date,
    /// `Ready` whether they also are ready; and if not, why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "operetta::operator::Conditions")]
    pub conditions: Vec<Condition>,
}
