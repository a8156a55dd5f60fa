//! The JSON forms of a type, a key, an object without its content, and a point in time.

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    history::{Timestamp, serialize_time},
    object::{K8sType, Object, ObjectKey},
};

/// A resource type.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Type")]
pub(in crate::web) struct TypeView {
    /// Its name in `/api/v1/cache/{type}`.
    #[serde(rename = "type")]
    pub(in crate::web) name: String,
    /// `v1` or `group/version`.
    api_version: String,
    pub(in crate::web) kind: String,
    /// Whether its objects are in namespaces.
    namespaced: bool,
}

/// The key of an object.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Key")]
pub(in crate::web) struct KeyView {
    /// Absent for cluster-scoped objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::web) namespace: Option<String>,
    pub(in crate::web) name: String,
}

/// An object without its content.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Object")]
pub(in crate::web) struct ObjectView {
    #[serde(flatten)]
    key: KeyView,
    uid: String,
    resource_version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<i64>,
    /// Whether it has a deletionTimestamp.
    deleting: bool,
}

/// A point in time.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::web) struct Time(
    #[serde(serialize_with = "serialize_time")]
    #[schemars(with = "Timestamp")]
    pub(in crate::web) SystemTime,
);

impl TypeView {
    pub(in crate::web) fn k8s_type(&self) -> K8sType {
        let plural = self.name.split('.').next().unwrap_or_default();
        let new = if self.namespaced { K8sType::namespaced } else { K8sType::cluster_scoped };
        new(&self.api_version, &self.kind, plural)
    }
}

impl From<&K8sType> for TypeView {
    fn from(ty: &K8sType) -> Self {
        Self {
            name: ty.resource_name(),
            api_version: ty.api_version().to_owned(),
            kind: ty.kind().to_owned(),
            namespaced: ty.is_namespaced(),
        }
    }
}

impl From<&ObjectKey> for KeyView {
    fn from(key: &ObjectKey) -> Self {
        Self { namespace: key.namespace.as_deref().map(str::to_owned), name: key.name.to_string() }
    }
}

/// As kubectl names it.
impl std::fmt::Display for KeyView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl From<&Object> for ObjectView {
    fn from(object: &Object) -> Self {
        Self {
            key: object.key().into(),
            uid: object.uid().to_string(),
            resource_version: object.resource_version().to_string(),
            generation: object.generation(),
            deleting: object.is_deleting(),
        }
    }
}
