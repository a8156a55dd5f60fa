//! Why a handler's response is refused. Names children and fields, never shows values.

use std::fmt;

use super::initial_fields::InitialFieldError;
use crate::{
    object::K8sType,
    operator::{ChildConfigError, DesiredChild, ORPHAN_LABEL, Prerequisite},
};

/// A desired child that is not valid. One of them refuses the whole response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{child}: {why}")]
pub struct Refusal {
    /// The child as far as it has a name.
    pub(crate) child: String,
    pub(crate) why: RefusalReason,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RefusalReason {
    /// It is another JSON value.
    #[error("it is not a JSON object: return a list, or an `Option`, by `.children(..)`")]
    NotAnObject,
    /// A field that every object has is absent or empty.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A field has another JSON type than every object has.
    #[error("`{0}` has the wrong JSON type")]
    WrongType(&'static str),
    /// The server generates another name with each reconcile.
    #[error("`metadata.generateName` cannot replace `metadata.name`: children need stable names")]
    GeneratedName,
    /// The name or the namespace cannot be part of a URL.
    #[error("`{0}` is not a valid name")]
    InvalidName(&'static str),
    /// The operator's configuration does not list the type.
    #[error(
        "the operator does not declare the child type {kind} of {api_version}: add \
         `.child::<{kind}>(..)`, or `.child_of_type(..)`, to the `OperatorConfig`"
    )]
    UndeclaredType { api_version: String, kind: String },
    /// The operator's configuration lists the kind, but of another version or group.
    #[error(
        "the operator declares the child type {} of {}, not {kind} of {api_version}: \
         return the declared one, or add `.child_of_type(..)` to the `OperatorConfig`",
        .declared.kind(), .declared.api_version()
    )]
    OtherVersion { api_version: String, kind: String, declared: K8sType },
    /// A namespaced parent owns only what is in its own namespace.
    #[error(
        "it is not in the namespace `{0}` of its parent: only children of a type with \
         `.delete_with_finalizer()` may be elsewhere"
    )]
    ForeignNamespace(String),
    /// The operator is restricted to other namespaces.
    #[error("the operator does not work in the namespace `{0}`")]
    OutsideNamespaces(String),
    /// A cluster-scoped parent has no namespace to use as the default.
    #[error("it must name its namespace: its parent is cluster-scoped")]
    NoNamespace,
    #[error("objects of {0} have no namespace: remove `metadata.namespace`")]
    ClusterScoped(K8sType),
    /// Kubernetes has no owner reference from a cluster-scoped to a namespaced object.
    #[error(
        "{0} is cluster-scoped and cannot belong to a namespaced parent, unless the child type has \
         `.delete_with_finalizer()`"
    )]
    CannotBeOwned(K8sType),
    /// The server writes these fields, not a handler.
    #[error(
        "the server writes {}: remove what was read from the server, as `recipes::ObjectCopy` does",
        .0.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
    )]
    ServerOwned(Vec<&'static str>),
    /// The framework sets this label, to find the children of the parent.
    #[error(
        "the label `{name}` is that by which the operator finds its children, with the value `{value}`: remove it \
         from the child, or use another label, see `OperatorConfig::labels`"
    )]
    OurLabel { name: String, value: String },
    /// The framework sets it for the option.
    #[error(
        "the label `{ORPHAN_LABEL}` is set by `.orphan_on_delete()`: remove it from the child, and use that option"
    )]
    OrphanLabel,
    /// The handler named another controller.
    #[error("`metadata.ownerReferences` names another controller than the parent")]
    OtherController,
    /// It is the parent.
    #[error("it is the parent itself")]
    IsTheParent,
    /// Another child of the response has the same type and name.
    #[error("it is returned twice, by {}: return it once", twice(*.0, *.1))]
    Duplicate(ReturnedBy, ReturnedBy),
    /// It waits for a child that the response does not have.
    #[error(
        "it is after {0}, which the handler does not return: return both, or remove the `after`"
    )]
    AfterUnknown(Prerequisite),
    /// One edge is stated twice.
    #[error("it is after {0} twice: remove one `after`")]
    TwiceAfter(Prerequisite),
    /// Children wait for each other, also through stages; their names.
    #[error("children wait for each other: {0}")]
    Circle(String),
    /// The stage of a child of a response in JSON.
    #[error("its stage {0} is too high: a response has at most {1} stages")]
    Stage(usize, usize),
    /// The handler gave it options that cannot work.
    #[error(transparent)]
    Options(#[from] ChildConfigError),
    /// A field of which it has only the first value.
    #[error(transparent)]
    InitialField(#[from] InitialFieldError),
    /// The decorator has no permission for it.
    #[error("they cannot be held: add `.with_held_replicas()` to the `OperatorConfig`")]
    NoHeldReplicas,
    /// No number of replicas.
    #[error("{0} is no number of replicas: hold 0 to {max}", max = u16::MAX)]
    Replicas(i32),
    /// The name of a label or annotation.
    #[error(
        "its name is not valid: it is up to 63 letters, digits, `-`, `_` and `.`, perhaps after a DNS \
         name and `/`"
    )]
    Key,
    /// The value of a label.
    #[error(
        "its value is not valid: it is empty, or up to 63 letters, digits, `-`, `_` and `.`, which \
         begins and ends with a letter or digit"
    )]
    LabelValue,
    /// It decides whether the parent is selected.
    #[error("it is in the selector of the operator: its own writes would select the parent")]
    InSelector,
    /// No API server stores an object of this size.
    #[error("it has {0} bytes, more than an API server stores")]
    TooLarge(usize),
    /// So many children are a mistake.
    #[error("the handler returned {0} children")]
    TooMany(usize),
}

impl RefusalReason {
    /// Whether only the name of the child is wrong.
    pub(crate) fn is_about_the_name(&self) -> bool {
        matches!(self, Self::InvalidName("metadata.name"))
    }
}

/// The method by which a handler returned a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReturnedBy {
    Child,
    ChildWith,
    Ensure,
}

impl ReturnedBy {
    pub(super) fn of(child: &DesiredChild) -> Self {
        match child {
            DesiredChild { ensure: true, .. } => Self::Ensure,
            DesiredChild { config: Some(_), .. } => Self::ChildWith,
            DesiredChild { config: None, .. } => Self::Child,
        }
    }
}

impl fmt::Display for ReturnedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Child => "`child`",
            Self::ChildWith => "`child_with`",
            Self::Ensure => "`ensure`",
        })
    }
}

fn twice(first: ReturnedBy, second: ReturnedBy) -> String {
    if first == second { first.to_string() } else { format!("{first} and by {second}") }
}
