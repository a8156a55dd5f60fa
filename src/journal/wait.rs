//! Why a child is not written or deleted now, although nothing failed.

use std::fmt;

use super::PausedBy;
use crate::{operator::ChildState, plan::WaitingReason};

/// Why a child is not written or deleted now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    /// The plan says so.
    Planned(WaitingReason),
    /// A pause does: of its creation, change or deletion.
    Paused {
        /// What is held.
        what: &'static str,
        /// What is paused.
        by: PausedBy,
    },
    /// The pause of a parent that goes.
    EndPaused,
    /// The server asked for patience.
    Throttled,
    /// Every write has to be accepted first.
    Writes,
    /// Somebody else is busy with it; in words.
    Others(&'static str),
}

impl Wait {
    /// The state of the child.
    pub fn state(&self) -> ChildState {
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
            Self::EndPaused => f.write_str("its deletion waits until the pause is over"),
            Self::Throttled => f.write_str("the server asked us to wait"),
            Self::Writes => f.write_str("its deletion waits until every write is accepted"),
            Self::Others(why) => f.write_str(why),
        }
    }
}
