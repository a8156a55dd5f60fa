//! The custom resource `TempNamespace`.

#![expect(clippy::duplicated_attributes, reason = "columns may have the same type")]

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The desired namespace.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "example.operetta.dev",
    version = "v1alpha1",
    kind = "TempNamespace",
    doc = "A namespace of the same name that is deleted, with its content, after a time.",
    derive = "PartialEq",
    shortname = "tempns",
    category = "operetta",
    status = "TempNamespaceStatus",
    printcolumn(name = "Delete After", type_ = "string", json_path = ".spec.deleteAfter"),
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(name = "Expires", type_ = "string", json_path = ".status.expiresAt"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
pub struct TempNamespaceSpec {
    /// The lifetime of the namespace from its creation: an integer and `s`, `m`, `h` or `d` for
    /// seconds, minutes, hours or days, for example `90m`.
    #[schemars(pattern(r"^[0-9]+[smhdSMHD]$"))]
    pub delete_after: String,
}

/// The observed namespace.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct TempNamespaceStatus {
    /// Why the operator cannot process this object; the namespace then stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The phase of the namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// When the namespace was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub created_at: Option<Time>,
    /// When it will be deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub expires_at: Option<Time>,
    /// When it was deleted after its lifetime. It is then never created again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("format" = "date-time"))]
    pub deleted_at: Option<Time>,
    /// The metadata.generation that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The conditions, written by the framework: `Synced` shows whether the children are up to date,
    /// `Ready` whether they also are ready; and if not, why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "operetta::operator::Conditions")]
    pub conditions: Vec<Condition>,
}

/// The phase of a temporary namespace.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It is not created yet.
    Pending,
    /// It exists.
    Active,
    /// It is being deleted.
    Deleting,
    /// It is deleted permanently.
    Deleted,
}
