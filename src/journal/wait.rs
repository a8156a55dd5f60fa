//! Why a child is not written or deleted now, although nothing failed.

use std::{fmt, time::SystemTime};

use k8s_openapi::jiff;

use super::PausedBy;
use crate::{
    object::{Quoted, Redactor},
    operator::ChildState,
    plan::{ChildId, WaitingReason},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wait {
    /// By the plan.
    Planned(WaitingReason),
    /// A pause holds its creation, change or deletion.
    Paused {
        what: &'static str,
        by: PausedBy,
    },
    /// The parent is terminating and paused.
    EndPaused,
    Throttled,
    /// All writes must be accepted first.
    Writes,
    /// Someone else is changing it; the message.
    Others(&'static str),
    /// Another child must be ready before.
    Behind(Box<Behind>),
    /// Another child must be gone before it is deleted.
    BehindDeletion(ChildId),
}

/// What a child waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Behind {
    /// The child that is not ready.
    pub(crate) child: ChildId,
    /// Why it is not.
    pub(crate) why: Quoted,
    /// Since when its stage is waited for.
    pub(crate) since: SystemTime,
}

impl Wait {
    pub(crate) fn state(&self) -> ChildState {
        match self {
            Self::Planned(WaitingReason::Deleting { .. }) => ChildState::Terminating,
            Self::Planned(WaitingReason::OnDelete { .. }) | Self::Paused { .. } => ChildState::Held,
            Self::Planned(WaitingReason::TypeNotSynced)
            | Self::EndPaused
            | Self::Throttled
            | Self::Writes
            | Self::Others(_)
            | Self::Behind(_)
            | Self::BehindDeletion(_) => ChildState::Pending,
        }
    }

    /// The same after redaction of the texts of others.
    #[must_use]
    pub(crate) fn shown(&self, redactor: &Redactor) -> Self {
        match self {
            Self::Behind(behind) => {
                let why = redactor.shown(&behind.why);
                Self::Behind(Box::new(Behind { why, ..(**behind).clone() }))
            }
            other => other.clone(),
        }
    }
}

impl fmt::Display for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { child, why, since } = self;
        let since = jiff::Timestamp::try_from(*since).unwrap_or_default();
        write!(f, "since {since:.0} for {child}: {why}")
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Planned(why) => why.fmt(f),
            Self::Paused { what, by } => {
                write!(f, "its {what} waits until the {} is no longer paused", by.name())
            }
            Self::EndPaused => f.write_str("its deletion waits until the pause ends"),
            Self::Throttled => f.write_str("the API server is throttling requests"),
            Self::Writes => f.write_str("its deletion waits until every write is accepted"),
            Self::Others(why) => f.write_str(why),
            Self::Behind(behind) => write!(f, "it waits {behind}"),
            Self::BehindDeletion(child) => write!(f, "its deletion waits until {child} is gone"),
        }
    }
}
