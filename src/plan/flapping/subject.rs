//! What is written repeatedly, and why. Values only.

use crate::{
    object::K8sType,
    plan::{ChildId, RewriteReason},
};

/// What is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    Child(ChildId),
    /// The set of children of a type, which differs each time.
    Children(K8sType),
    Status,
    Finalizers,
    /// What a decorator puts on the parent.
    Decoration,
}

/// Why something is written repeatedly; a name is the reason of the condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FlappingReason {
    /// Another client reverts a child.
    FightingOverFields,
    /// Another client repeatedly removes our finalizer from the parent, or adds it.
    FightingOverFinalizer,
    /// Another client reverts the parent's status.
    FightingOverStatus,
    /// The handler returns different responses to the same request.
    UnstableHandler,
}

impl FlappingReason {
    pub(crate) const ALL: [Self; 4] = [
        Self::FightingOverFields,
        Self::FightingOverFinalizer,
        Self::FightingOverStatus,
        Self::UnstableHandler,
    ];

    /// One `CamelCase` word.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::FightingOverFields => "FightingOverFields",
            Self::FightingOverStatus => "FightingOverStatus",
            Self::FightingOverFinalizer => "FightingOverFinalizer",
            Self::UnstableHandler => "UnstableHandler",
        }
    }
}

impl From<RewriteReason> for FlappingReason {
    fn from(why: RewriteReason) -> Self {
        match why {
            RewriteReason::Drift => Self::FightingOverFields,
            RewriteReason::OtherAnswer => Self::UnstableHandler,
        }
    }
}
