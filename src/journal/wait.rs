//! Why a child is not written or deleted now, although nothing failed.

use std::fmt;

use super::PausedBy;
use crate::{operator::ChildState, plan::WaitingReason};

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
            | Self::Others(_) => ChildState::Pending,
        }
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
        }
    }
}
