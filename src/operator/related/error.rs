//! Why the related objects that a handler names cannot be read.

use crate::object::{K8sType, SelectorError};

/// The related objects that a handler names cannot be read: its code, or the parent, must change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RelatedError {
    /// The operator does not declare the type.
    #[error(
        "related objects of type {ty} are named, and operator `{operator}` does not declare that type: add \
         `OperatorConfig::related` (or `related_of_type`) for it"
    )]
    Undeclared {
        /// The operator.
        operator: String,
        /// The type.
        ty: K8sType,
    },
    /// The label selector does not parse.
    #[error("related objects of type {ty}: {why}")]
    Selector {
        /// The type.
        ty: K8sType,
        /// What is wrong with the selector; no `source`, as the message contains it.
        why: SelectorError,
    },
    /// A name without a namespace, where the parent has none.
    #[error(
        "related {ty} `{name}` has no namespace, and the cluster-scoped parent has none either: name it as \
         `(namespace, name)`"
    )]
    NoNamespace {
        /// The type.
        ty: K8sType,
        /// The name.
        name: String,
    },
    /// An empty name.
    #[error("a related object of type {ty} is named by an empty name")]
    NoName {
        /// The type.
        ty: K8sType,
    },
    /// Outside of the namespaces of the operator.
    #[error(
        "related objects of type {ty} in {} are outside of the namespaces of operator `{operator}`: add the \
         namespace to its configuration, or name objects within them",
        .namespace.as_ref().map_or_else(|| "all namespaces".to_owned(), |it| format!("namespace {it}"))
    )]
    OutOfReach {
        /// The operator.
        operator: String,
        /// The type.
        ty: K8sType,
        /// The namespace; `None` for all.
        namespace: Option<String>,
    },
}
