//! Why a reconcile failed, in one word: for conditions, Events and metrics.

use schemars::JsonSchema;
use serde::Serialize;

/// Why a reconcile failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub enum FailureKind {
    /// Children of a declared type cannot be listed.
    ChildTypeUnavailable,
    /// Related objects cannot be read.
    RelatedUnavailable,
    /// The handler named related objects that cannot be read.
    InvalidRelated,
    /// The handler returned an error.
    HandlerFailed,
    /// The handler panicked.
    HandlerPanicked,
    /// The handler did not return in time.
    HandlerTimeout,
    /// The handler returned children that cannot be written.
    InvalidChildren,
    /// A foreign object has the name of a child.
    Conflict,
    /// A request to the API server failed.
    WriteFailed,
    /// Children wait for a stage that is not ready in time.
    StageTimeout,
    /// Too many children of a rollout have failed.
    RolloutStopped,
    /// The reconcile panicked, outside of the handler.
    InternalError,
}

impl FailureKind {
    /// The word.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ChildTypeUnavailable => "ChildTypeUnavailable",
            Self::RelatedUnavailable => "RelatedUnavailable",
            Self::InvalidRelated => "InvalidRelated",
            Self::HandlerFailed => "HandlerFailed",
            Self::HandlerPanicked => "HandlerPanicked",
            Self::HandlerTimeout => "HandlerTimeout",
            Self::InvalidChildren => "InvalidChildren",
            Self::Conflict => "Conflict",
            Self::WriteFailed => "WriteFailed",
            Self::StageTimeout => "StageTimeout",
            Self::RolloutStopped => "RolloutStopped",
            Self::InternalError => "InternalError",
        }
    }
}
