//! Errors of a configuration, and errors by which a handler classifies its failures.

use std::{fmt, time::Duration};

use super::InvalidName;
use crate::object::{K8sType, SelectorError};

/// A configuration cannot work. Detected when the operator is registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The name is not a DNS label.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// Two operators have the same name, and would conflict as one field manager.
    #[error("operator `{0}` is registered twice: give one of them another name")]
    Duplicate(String),
    /// Two operators of one parent type have the same finalizer: one would release a parent for both.
    #[error(
        "the operators `{one}` and `{other}` have the same parent type and the finalizer {finalizer}: \
         give one of them another finalizer"
    )]
    SharedFinalizer {
        /// The operator that was registered first.
        one: String,
        /// The other one.
        other: String,
        /// Their finalizer.
        finalizer: String,
    },
    /// A child type is declared twice, perhaps in two versions.
    #[error(
        "operator `{operator}` declares the child type {ty} twice, or in two versions: \
         declare only the version that the handler returns"
    )]
    DuplicateChild {
        /// The operator.
        operator: String,
        /// The type.
        ty: K8sType,
    },
    /// `ready_when` was called for a type that is no child type.
    #[error(
        "operator `{operator}`: `ready_when` is about {ty}, which is no child type: declare it with \
         `child`, or remove the call"
    )]
    ReadyWhen {
        /// The operator.
        operator: String,
        /// The type.
        ty: K8sType,
    },
    /// A related type is declared twice, perhaps in two versions.
    #[error(
        "operator `{operator}` declares the related type {ty} twice, or in two versions: declare it once"
    )]
    DuplicateRelated {
        /// The operator.
        operator: String,
        /// The type.
        ty: K8sType,
    },
    /// The handler names related objects, whose types are not declared.
    #[error(
        "operator `{operator}` declares no related type, and its handler has a function for related \
         objects: add `OperatorConfig::related`, or remove `with_related`"
    )]
    NoRelatedType {
        /// The operator.
        operator: String,
    },
    /// The options of a child type cannot work.
    #[error("operator `{operator}`: {ty}: {why}")]
    Child {
        /// The operator.
        operator: String,
        /// The child type.
        ty: K8sType,
        /// What is wrong; no `source`, as the message contains it.
        why: ChildConfigError,
    },
    /// A namespaced parent cannot own cluster-scoped children: Kubernetes has no such owner
    /// reference.
    #[error(
        "operator `{operator}`: the namespaced parent {parent} cannot own the cluster-scoped child \
         type {child}: use `ChildConfig::delete_with_finalizer()` and no restriction to namespaces"
    )]
    ClusterChild {
        /// The operator.
        operator: String,
        /// Its parent type.
        parent: K8sType,
        /// The child type that cannot be owned.
        child: K8sType,
    },
    /// The handler takes parents of another type than the operator has.
    #[error(
        "operator `{operator}` has parents of type {parent}, and its handler takes parents of type \
         {taken}: use one type for both, or a handler of `SyncRequest`, which takes any"
    )]
    HandlerParent {
        /// The operator.
        operator: String,
        /// Its parent type.
        parent: K8sType,
        /// The parent type of the handler.
        taken: K8sType,
    },
    /// Others write the status, so the framework cannot list children in it.
    #[error(
        "operator `{operator}`: `with_child_status` cannot be used for the parent type {parent}, \
         whose status other controllers write too (it is a type of Kubernetes itself, or has \
         `sharing_status`): remove `with_child_status`"
    )]
    ListInSharedStatus {
        /// The operator.
        operator: String,
        /// Its parent type.
        parent: K8sType,
    },
    /// A percentage above 100.
    #[error("operator `{operator}`: the deletion limit of {percent} percent is more than 100")]
    Percent {
        /// The operator.
        operator: String,
        /// The percentage.
        percent: u8,
    },
    /// A restriction to an empty list of namespaces.
    #[error(
        "operator `{operator}` is restricted to an empty list of namespaces: name one, or remove \
         the restriction"
    )]
    NoNamespace {
        /// The operator.
        operator: String,
    },
    /// The name of a namespace is invalid.
    #[error("operator `{operator}`: `{namespace}` is not a valid name of a namespace")]
    NamespaceName {
        /// The operator.
        operator: String,
        /// The name.
        namespace: String,
    },
    /// Cluster-scoped parents have no namespace.
    #[error(
        "operator `{operator}` is restricted to namespaces, and its parent type {parent} is \
         cluster-scoped: remove the restriction"
    )]
    ClusterParent {
        /// The operator.
        operator: String,
        /// Its parent type.
        parent: K8sType,
    },
    /// The API server would refuse the finalizer.
    #[error(
        "operator `{operator}`: `{finalizer}` is not a finalizer: use a name of letters, digits, `-`, \
         `_` and `.`, perhaps after a domain and `/`"
    )]
    Finalizer {
        /// The operator.
        operator: String,
        /// The finalizer.
        finalizer: String,
    },
    /// The selector of the parents is invalid.
    #[error("operator `{operator}`: the selector of its parents is invalid: {why}")]
    Selector {
        /// The operator.
        operator: String,
        /// What is wrong with the selector; no `source`, as the message contains it.
        why: SelectorError,
    },
    /// A reconcile may occupy a thread.
    #[error("operator `{operator}`: `max_concurrent_reconciles` is {limit}, more than {most}")]
    TooManyReconciles {
        /// The operator.
        operator: String,
        /// The configured limit.
        limit: usize,
        /// The highest limit.
        most: usize,
    },
    /// A value must be positive.
    #[error("operator `{operator}`: `{field}` must be more than zero")]
    Zero {
        /// The operator.
        operator: String,
        /// The field of its configuration.
        field: &'static str,
    },
}

/// The options of a child type, or of one child, cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChildConfigError {
    /// The option needs children that are updated by apply.
    #[error(
        "`{option}` is for children that are applied: write `ChildConfig::apply().{option}`, or \
         remove `{option}`"
    )]
    NotApplied {
        /// The method that sets the option.
        option: &'static str,
    },
    /// Without owner references an object without an owner cannot be distinguished from a child of
    /// another parent.
    #[error("it has both `adopting()` and `delete_with_finalizer()`: remove one of them")]
    AdoptsUncollectable,
    /// The one keeps the children of a deleted parent, the other deletes them.
    #[error(
        "`orphan_on_delete()` keeps what `delete_with_finalizer()` deletes: remove one of them"
    )]
    KeptAndDeleted,
    /// Deleting such an object deletes objects of others.
    #[error(
        "it is never recreated, as that would delete what it holds: use `ChildConfig::apply()` or \
         `on_delete()` without `recreate_if_immutable()`"
    )]
    NeverRecreated,
    /// A rollout spreads changes.
    #[error("`rolling(..)` spreads changes, and `on_delete()` changes nothing: remove one of them")]
    RollsNothing,
    /// No child may be unavailable.
    #[error("a rollout of 0 changes nothing: allow at least one child")]
    RollsNone,
    /// More than all.
    #[error("a rollout of {0} % is too much: allow at most 100 %")]
    RollsMore(u8),
    /// It stops before it begins.
    #[error("a rollout that stops after 0 failures never begins: allow at least one")]
    StopsAtOnce,
    /// An option that decides more than how one child is written.
    #[error(
        "`{option}` holds for all objects of a type: set it where the `OperatorConfig` declares \
         {ty}"
    )]
    OfType {
        /// The method that sets the option.
        option: &'static str,
        /// The type.
        ty: K8sType,
    },
}

/// An error of a handler that no retry fixes: the parent is not retried until it changes (its spec,
/// labels, annotations or finalizers, not its status). This holds for `sync`; `finalize` is still
/// retried with backoff, so that the parent can be deleted.
///
/// ```
/// use operetta::operator::Permanent;
///
/// fn port(text: &str) -> anyhow::Result<u16> {
///     text.parse().map_err(|_| Permanent(format!("`{text}` is not a port")).into())
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permanent(pub String);

impl fmt::Display for Permanent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Permanent {}

/// An error of a handler that chooses its own delay instead of the backoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryAfter {
    /// Why.
    pub message: String,
    /// The delay, at least 100 ms.
    pub delay: Duration,
}

impl fmt::Display for RetryAfter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RetryAfter {}
