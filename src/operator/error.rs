//! What can be wrong with a configuration, and how a handler says what kind of failure it met.

use std::{fmt, time::Duration};

use super::InvalidName;
use crate::object::{K8sType, SelectorError};

/// A configuration cannot work. Found when the operator is registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The name is not a DNS label.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// Two operators have one name, and so would fight as one field manager.
    #[error("operator `{0}` is registered twice")]
    Duplicate(String),
    /// Two operators answer for one type, and so would fight over its status.
    #[error("two operators have the parent type {0}, which is not supported yet")]
    SharedParent(K8sType),
    /// A child type is listed twice, perhaps in two versions.
    #[error(
        "operator `{operator}` lists the child type {ty} twice, or in another version: the server \
         converts, name the version that the handler returns"
    )]
    DuplicateChild {
        /// The operator.
        operator: String,
        /// The type.
        ty: K8sType,
    },
    /// Without owner references an object that is nobody's cannot be told from another parent's.
    #[error(
        "operator `{operator}`: children of {ty} cannot be both `adopting` and `uncollectable`"
    )]
    AdoptsUncollectable {
        /// The operator.
        operator: String,
        /// The child type.
        ty: K8sType,
    },
    /// A namespaced parent cannot own cluster-scoped children: Kubernetes has no such owner
    /// reference.
    #[error(
        "operator `{operator}`: the namespaced parent {parent} cannot own the cluster-scoped child \
         type {child}; `ChildConfig::delete_with_finalizer` allows it to an operator of all namespaces"
    )]
    ClusterChild {
        /// The operator.
        operator: String,
        /// Its parent type.
        parent: K8sType,
        /// The child type that cannot be owned.
        child: K8sType,
    },
    /// What is in the status of others is theirs: a list of children would be in their way.
    #[error(
        "operator `{operator}`: `with_child_status` lists children in a status that is the \
         operator's own, and others write that of {parent} too: it is a type of Kubernetes itself, or \
         `sharing_status` says so"
    )]
    ListInSharedStatus {
        /// The operator.
        operator: String,
        /// Its parent type.
        parent: K8sType,
    },
    /// A share of more than all.
    #[error("operator `{operator}`: its deletion limit is {percent} percent, more than 100")]
    Percent {
        /// The operator.
        operator: String,
        /// The percentage.
        percent: u8,
    },
    /// A restriction to no namespace at all.
    #[error("operator `{operator}` is restricted to no namespace: name one, or leave it out")]
    NoNamespace {
        /// The operator.
        operator: String,
    },
    /// No namespace can be called so.
    #[error("operator `{operator}`: `{namespace}` is not the name of a namespace")]
    NamespaceName {
        /// The operator.
        operator: String,
        /// The name.
        namespace: String,
    },
    /// Cluster-scoped parents are in no namespace.
    #[error(
        "operator `{operator}` is restricted to namespaces, and its parent type {parent} is \
         cluster-scoped"
    )]
    ClusterParent {
        /// The operator.
        operator: String,
        /// Its parent type.
        parent: K8sType,
    },
    /// The parents cannot be selected so.
    #[error("operator `{operator}`: the selector of its parents cannot be used: {why}")]
    Selector {
        /// The operator.
        operator: String,
        /// What is wrong with the selector; no `source`, as the text tells it.
        why: SelectorError,
    },
    /// The option is for children that are updated by apply.
    #[error("operator `{operator}`: `{option}` of {ty} needs `ChildConfig::apply()`")]
    NotApplied {
        /// The operator.
        operator: String,
        /// The child type.
        ty: K8sType,
        /// The method that sets the option.
        option: &'static str,
    },
    /// Deleting such an object deletes what others have put there.
    #[error(
        "operator `{operator}`: {ty} is never recreated, as its end is that of what it holds: use \
         `ChildConfig::apply()` or `on_delete()` without `recreate_if_immutable()`"
    )]
    NeverRecreated {
        /// The operator.
        operator: String,
        /// The child type.
        ty: K8sType,
    },
    /// A reconcile may need a thread.
    #[error("operator `{operator}`: `max_concurrent_reconciles` is {runs}, more than {most}")]
    TooManyReconciles {
        /// The operator.
        operator: String,
        /// How many reconciles it would allow at once.
        runs: usize,
        /// How many it may.
        most: usize,
    },
    /// A number must be positive.
    #[error("operator `{operator}`: `{field}` must be more than zero")]
    Zero {
        /// The operator.
        operator: String,
        /// The field of its configuration.
        field: &'static str,
    },
}

/// A handler's failure that no retry will mend: the parent rests until it changes (its spec, labels,
/// annotations or finalizers, not its status). Only `sync` rests; `finalize` is tried again with backoff all the same, so that the parent can go.
///
/// ```
/// use operetta::operator::Permanent;
///
/// fn port(text: &str) -> anyhow::Result<u16> {
///     text.parse().map_err(|_| Permanent(format!("`{text}` is no port")).into())
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

/// A handler's failure that is to be retried after a time of its choice instead of the backoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryAfter {
    /// Why.
    pub message: String,
    /// How long to wait, 100 ms at the least.
    pub delay: Duration,
}

impl fmt::Display for RetryAfter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RetryAfter {}
