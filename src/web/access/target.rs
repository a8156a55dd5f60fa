//! What a user may access, and how the API server is asked.

use serde_json::{Value, json};

use crate::{manifests::SUBRESOURCE, object::K8sType};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::web) enum Target {
    /// A path, as `nonResourceURLs` grant it.
    Path(String),
    /// The parents of a type in a namespace, or one of them: their subresource `operetta`. No API server serves it, so
    /// nobody has it by accident, and the roles of a namespace can grant it.
    Parents { parent: K8sType, namespace: String, name: Option<String> },
}

impl Target {
    pub(in crate::web) fn path(path: &str) -> Self {
        Self::Path(match path {
            "/metrics" => path.to_owned(),
            path => format!("/operetta{path}"),
        })
    }

    /// The part of the `spec` of a `SubjectAccessReview`.
    pub(super) fn attributes(&self, verb: &str) -> Value {
        match self {
            Self::Path(path) => json!({"nonResourceAttributes": {"path": path, "verb": verb}}),
            Self::Parents { parent, namespace, name } => json!({"resourceAttributes": {
                "group": parent.group(), "version": parent.version(), "resource": parent.plural(),
                "subresource": SUBRESOURCE, "namespace": namespace,
                "name": name.as_deref().unwrap_or_default(), "verb": of_resource(verb),
            }}),
        }
    }

    /// The access in words.
    pub(super) fn described(&self, verb: &str) -> String {
        match self {
            Self::Path(path) => format!("{verb} path {path:?}"),
            Self::Parents { parent, namespace, .. } => {
                let resource = format!("{}/{SUBRESOURCE}", parent.resource_name());
                format!("{} {resource} in the namespace {namespace:?}", of_resource(verb))
            }
        }
    }
}

/// A command creates, as `kubectl exec` creates an `exec`.
fn of_resource(verb: &str) -> &str {
    match verb {
        "post" => "create",
        verb => verb,
    }
}
