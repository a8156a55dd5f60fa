//! What a request asks for. Values only.

use std::sync::Arc;

use serde_json::{Value, json};

use super::kind::{GroupVersionKind, Operation};
use crate::resource::Resource;

/// What a request asks for, whatever object it meets.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Who asks, as a `UserInfo`.
    pub user: Arc<Value>,
    /// The resource in the version of the path.
    pub resource: Arc<Resource>,
    /// The kind of what is sent: that of the resource, or of a subresource.
    pub kind: GroupVersionKind,
    /// Empty for the object itself.
    pub subresource: String,
    /// A namespace is in itself.
    pub namespace: String,
    /// The name of the path.
    pub name: String,
    /// Whether the objects of a collection are deleted, none of which is named.
    pub is_collection: bool,
    pub dry_run: bool,
    /// The options of the request, without a kind.
    pub parameters: Value,
}

impl Asked {
    /// Whether this is about a namespace itself.
    pub(super) fn is_namespace(&self) -> bool {
        self.resource.id.group.is_empty() && self.resource.id.plural == "namespaces"
    }

    /// Configurations must not be able to lock themselves.
    pub(super) fn is_exempt(&self) -> bool {
        self.kind.group == "admissionregistration.k8s.io"
    }

    /// The options as an object.
    pub(super) fn options(&self, operation: Operation) -> Value {
        let kind = match operation {
            Operation::Create => "CreateOptions",
            Operation::Update => "UpdateOptions",
            Operation::Delete => "DeleteOptions",
        };
        let mut options = json!({ "kind": kind, "apiVersion": "meta.k8s.io/v1" });
        if let (Some(options), Some(given)) = (options.as_object_mut(), self.parameters.as_object())
        {
            options.extend(given.clone());
        }
        options
    }
}
