//! The custom resource `Propagation`.

#![expect(clippy::duplicated_attributes, reason = "columns may have the same type")]

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use operetta::operator::ChildStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Selector;

/// What is copied, and where to.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "example.operetta.dev",
    version = "v1alpha1",
    kind = "Propagation",
    doc = "Copies a ConfigMap or a Secret into namespaces, and keeps the copies up to date.",
    derive = "PartialEq",
    shortname = "prop",
    category = "operetta",
    status = "PropagationStatus",
    printcolumn(name = "Kind", type_ = "string", json_path = ".spec.source.kind"),
    printcolumn(name = "Source", type_ = "string", json_path = ".status.source"),
    printcolumn(name = "Namespaces", type_ = "integer", json_path = ".status.namespaces"),
    printcolumn(name = "Copies", type_ = "integer", json_path = ".status.copies"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].reason"#
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
pub struct PropagationSpec {
    /// The object that is copied. Each copy has its name.
    pub source: Source,
    /// The namespaces that get a copy. That of the source never gets one.
    pub namespaces: Namespaces,
}

/// The object that is copied.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// `ConfigMap` or `Secret`.
    pub kind: SourceKind,
    /// Its namespace.
    #[schemars(
        length(min = 1, max = 63),
        extend("x-kubernetes-validations" = [{
            "rule": "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
            "message": "must be the name of a namespace: lower-case letters, digits and `-`",
        }])
    )]
    pub namespace: String,
    /// Its name.
    #[schemars(
        length(min = 1, max = 253),
        extend("x-kubernetes-validations" = [{
            "rule": "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",
            "message": "must be the name of an object: lower-case letters, digits, `-` and `.`",
        }])
    )]
    pub name: String,
}

/// The type of the object that is copied.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// A `ConfigMap`.
    ConfigMap,
    /// A `Secret`.
    Secret,
}

/// The namespaces that get a copy.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Namespaces {
    /// The labels of the namespaces. An empty selector (`{}`) selects all of them.
    pub selector: Selector,
    /// The names of namespaces that get no copy although their labels are selected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), inner(length(max = 63)))]
    pub exclude: Vec<String>,
}

/// The observed copies.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct PropagationStatus {
    /// The source, as namespace/name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How many namespaces are selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<i64>,
    /// How many copies exist, also those that are to go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<i64>,
    /// The metadata.generation that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The conditions: `Synced` shows whether all copies are up to date, `Ready` also whether the
    /// source exists; and if not, why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "operetta::operator::Conditions")]
    pub conditions: Vec<Condition>,
    /// The state of each copy, written by the framework: at most 100, those that are not up to date
    /// first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ChildStatus>,
    /// How many copies are not listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub children_omitted: Option<i64>,
}

impl SourceKind {
    /// The kind of the object.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.kind.as_str(), self.namespace, self.name)
    }
}
