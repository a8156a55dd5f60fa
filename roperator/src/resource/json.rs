//! What every Kubernetes object has, read from its JSON.

use std::fmt;

use serde_json::Value;

use super::{K8sTypeRef, ObjectIdRef};

/// What every Kubernetes object has; `None` where a JSON value has no such text.
pub trait ResourceJson: fmt::Display {
    /// `apiVersion`.
    fn get_api_version(&self) -> Option<&str>;

    /// `kind`.
    fn get_kind(&self) -> Option<&str>;

    /// `metadata.namespace`.
    fn get_namespace(&self) -> Option<&str>;

    /// `metadata.name`.
    fn get_name(&self) -> Option<&str>;

    /// `apiVersion` and `kind`.
    fn get_type_ref(&self) -> Option<K8sTypeRef<'_>> {
        Some(K8sTypeRef(self.get_api_version()?, self.get_kind()?))
    }

    /// Namespace and name.
    fn get_id_ref(&self) -> Option<ObjectIdRef<'_>> {
        Some(ObjectIdRef::new(self.get_namespace().unwrap_or_default(), self.get_name()?))
    }
}

impl ResourceJson for Value {
    fn get_api_version(&self) -> Option<&str> {
        self.pointer("/apiVersion")?.as_str()
    }

    fn get_kind(&self) -> Option<&str> {
        self.pointer("/kind")?.as_str()
    }

    fn get_namespace(&self) -> Option<&str> {
        self.pointer("/metadata/namespace")?.as_str()
    }

    fn get_name(&self) -> Option<&str> {
        self.pointer("/metadata/name")?.as_str()
    }
}
