//! What happens to which kind of objects. Values only.

use serde_json::{Value, json};

use crate::resource::Resource;

/// What happens to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

/// A kind in a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupVersionKind {
    pub group: String,
    pub version: String,
    pub kind: String,
}

impl Operation {
    /// As rules and reviews spell it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

impl GroupVersionKind {
    /// The kind of a resource.
    pub(crate) fn of(resource: &Resource) -> Self {
        Self {
            group: resource.id.group.clone(),
            version: resource.version.clone(),
            kind: resource.kind.clone(),
        }
    }

    /// As reviews have it.
    pub(super) fn json(&self) -> Value {
        json!({ "group": self.group, "version": self.version, "kind": self.kind })
    }
}
