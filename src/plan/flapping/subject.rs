//! What is written again and again, and why. Values only.

use crate::{
    object::K8sType,
    plan::{ChildId, RewriteReason},
};

/// What is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A child.
    Child(ChildId),
    /// Which children of a type there are: each time others.
    Children(K8sType),
    /// The status of the parent.
    Status,
    /// The finalizers of the parent.
    Finalizers,
}

/// Why something is written again; a name is the reason of the condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlappingReason {
    /// Somebody else changes a child back.
    FightingOverFields,
    /// Somebody else takes our finalizer off the parent again, or puts it back on.
    FightingOverFinalizer,
    /// Somebody else changes the parent's status back.
    FightingOverStatus,
    /// The handler answers differently to the same request.
    UnstableHandler,
}

impl FlappingReason {
    /// Every reason.
    pub const ALL: [Self; 4] = [
        Self::FightingOverFields,
        Self::FightingOverFinalizer,
        Self::FightingOverStatus,
        Self::UnstableHandler,
    ];

    /// One `CamelCase` word.
    pub fn name(self) -> &'static str {
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
