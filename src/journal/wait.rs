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
    /// Too many children of its type are unavailable: the first of them, and why it is.
    Rollout(Box<Behind>),
    /// Too many children of its type have failed.
    RolloutStopped,
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
    /// Since when its stage is waited for; `None` in a rollout.
    pub(crate) since: Option<SystemTime>,
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
            | Self::Rollout(_)
            | Self::RolloutStopped
            | Self::BehindDeletion(_) => ChildState::Pending,
        }
    }

    /// The same after redaction of the texts of others.
    #[must_use]
    pub(crate) fn shown(&self, redactor: &Redactor) -> Self {
        let mut shown = self.clone();
        if let Self::Behind(behind) | Self::Rollout(behind) = &mut shown {
            behind.why = redactor.shown(&behind.why);
        }
        shown
    }

    pub(crate) fn quotes_others(&self) -> bool {
        matches!(self, Self::Behind(_) | Self::Rollout(_))
    }

    /// Whether others must be ready before: many children may wait for the same one.
    pub(crate) fn is_for_readiness(&self) -> bool {
        matches!(self, Self::Behind(_) | Self::Rollout(_) | Self::RolloutStopped)
    }

    /// The same as the text of several children.
    pub(crate) fn of_several(&self) -> String {
        match self {
            Self::Behind(behind) | Self::Rollout(behind) => behind.to_string(),
            Self::RolloutStopped => "waits, as the rollout has stopped".to_owned(),
            Self::Planned(_)
            | Self::Paused { .. }
            | Self::EndPaused
            | Self::Throttled
            | Self::Writes
            | Self::Others(_)
            | Self::BehindDeletion(_) => self.to_string(),
        }
    }
}

impl fmt::Display for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { child, why, since } = self;
        f.write_str("waits ")?;
        if let Some(since) = since {
            let since = jiff::Timestamp::try_from(*since).unwrap_or_default();
            write!(f, "since {since:.0} ")?;
        }
        write!(f, "for {child}: {why}")
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
            Self::Behind(_) | Self::Rollout(_) | Self::RolloutStopped => {
                write!(f, "it {}", self.of_several())
            }
            Self::BehindDeletion(child) => write!(f, "its deletion waits until {child} is gone"),
        }
    }
}
