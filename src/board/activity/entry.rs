//! The values of the timeline: what happened, to which parent or operator, and when.

use std::{mem::size_of, sync::Arc, time::SystemTime};

use super::kind::Shelf;
use crate::{
    history::{Decided, Decision, FailureKind},
    object::ObjectKey,
    operator::OperatorName,
};

/// Something that happened, once or several times in a row.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Grows from 1. A repeated entry gets a new number.
    pub(super) number: u64,
    pub(super) first: SystemTime,
    pub(super) last: SystemTime,
    pub(super) times: u64,
    /// Absent for what concerns no operator, or several.
    pub(super) operator: Option<OperatorName>,
    pub(super) what: What,
    /// About how much memory it takes.
    pub(super) bytes: usize,
}

#[derive(Debug, Clone)]
pub(super) enum What {
    /// A reconcile wrote children. The decisions are shared with the history of the parent.
    Wrote {
        parent: ObjectKey,
        decisions: Arc<[Decision]>,
        omitted: usize,
    },
    /// Deletions wait for approval.
    Held {
        parent: ObjectKey,
        children: usize,
        why: Option<Arc<str>>,
    },
    /// A user allowed deletions that are held.
    Allowed {
        parent: ObjectKey,
        by: Option<Arc<str>>,
    },
    /// Deletions that had been held were carried out.
    Released {
        parent: ObjectKey,
        children: usize,
    },
    Failing {
        parent: ObjectKey,
        reason: FailureKind,
        message: Arc<str>,
    },
    Recovered {
        parent: ObjectKey,
    },
    /// Without a parent it is the operator that was paused.
    Paused {
        parent: Option<ObjectKey>,
        by: Option<Arc<str>>,
        why: Option<Arc<str>>,
    },
    Resumed {
        parent: Option<ObjectKey>,
        by: Option<Arc<str>>,
    },
    Leader {
        operators: Arc<[OperatorName]>,
        lease: Arc<str>,
        change: LeaderChange,
    },
    Registered,
    Unregistered,
    /// A user of the web endpoint lacks a permission.
    Denied {
        user: Arc<str>,
        access: Arc<str>,
    },
    /// A webhook of this process denied a request.
    Rejected {
        object: ObjectKey,
        user: Arc<str>,
        why: Arc<str>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LeaderChange {
    /// This process leads now.
    Gained,
    /// This process leads no more.
    Lost { to: Option<Arc<str>> },
    /// Another process leads now, and this one did not before.
    Passed { to: Option<Arc<str>> },
}

/// The longest text of others that is kept, in bytes.
const MAX_TEXT: usize = 256;

/// A webhook of this process denied a request.
#[derive(Debug)]
pub(crate) struct Rejection {
    /// The operator whose parents have this type.
    pub(crate) operator: Option<OperatorName>,
    pub(crate) object: ObjectKey,
    pub(crate) user: String,
    /// Which webhook, and what it says.
    pub(crate) why: String,
}

impl Entry {
    pub(super) fn new(
        number: u64,
        at: SystemTime,
        operator: Option<OperatorName>,
        what: What,
    ) -> Self {
        let bytes = size_of::<Self>() + what.bytes();
        Self { number, first: at, last: at, times: 1, operator, what, bytes }
    }

    /// The same after it happened again.
    pub(super) fn again(&self, number: u64, at: SystemTime) -> Self {
        let (last, times) = (at.max(self.last), self.times + 1);
        Self { number, last, times, ..self.clone() }
    }

    pub(super) fn is_of(&self, operator: &str) -> bool {
        match &self.what {
            What::Leader { operators, .. } => operators.iter().any(|it| it.as_str() == operator),
            _ => self.operator.as_ref().is_some_and(|it| it.as_str() == operator),
        }
    }
}

impl What {
    pub(super) fn shelf(&self) -> Shelf {
        match self {
            Self::Wrote { .. } | Self::Failing { .. } | Self::Recovered { .. } => Shelf::Reconciles,
            Self::Denied { .. } | Self::Rejected { .. } => Shelf::Denials,
            Self::Held { .. }
            | Self::Allowed { .. }
            | Self::Released { .. }
            | Self::Paused { .. }
            | Self::Resumed { .. }
            | Self::Leader { .. }
            | Self::Registered
            | Self::Unregistered => Shelf::Commands,
        }
    }

    pub(super) fn parent(&self) -> Option<&ObjectKey> {
        match self {
            Self::Wrote { parent, .. }
            | Self::Held { parent, .. }
            | Self::Allowed { parent, .. }
            | Self::Released { parent, .. }
            | Self::Failing { parent, .. }
            | Self::Recovered { parent }
            | Self::Rejected { object: parent, .. } => Some(parent),
            Self::Paused { parent, .. } | Self::Resumed { parent, .. } => parent.as_ref(),
            Self::Leader { .. } | Self::Registered | Self::Unregistered | Self::Denied { .. } => {
                None
            }
        }
    }

    /// Whether this happened before. Versions of children do not count: they differ each time.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Wrote { parent, decisions, omitted },
                Self::Wrote { parent: other, decisions: others, omitted: more },
            ) => parent == other && omitted == more && are_alike(decisions, others),
            (
                Self::Failing { parent, reason, message },
                Self::Failing { parent: other, reason: why, message: text },
            ) => parent == other && reason == why && message == text,
            (Self::Recovered { parent }, Self::Recovered { parent: other }) => parent == other,
            (Self::Denied { user, access }, Self::Denied { user: other, access: what }) => {
                user == other && access == what
            }
            (
                Self::Rejected { object, user, why },
                Self::Rejected { object: other, user: who, why: text },
            ) => object == other && user == who && why == text,
            // The others are rare.
            _ => false,
        }
    }

    fn bytes(&self) -> usize {
        let texts = match self {
            Self::Wrote { decisions, .. } => decisions.iter().map(bytes_of).sum(),
            Self::Held { why, .. } => length(why.as_ref()),
            Self::Failing { message, .. } => message.len(),
            Self::Paused { by, why, .. } => length(by.as_ref()) + length(why.as_ref()),
            Self::Resumed { by, .. } | Self::Allowed { by, .. } => length(by.as_ref()),
            Self::Leader { operators, lease, change } => {
                operators.len() * size_of::<OperatorName>() + lease.len() + change.bytes()
            }
            Self::Denied { user, access } => user.len() + access.len(),
            Self::Rejected { user, why, .. } => user.len() + why.len(),
            Self::Released { .. }
            | Self::Recovered { .. }
            | Self::Registered
            | Self::Unregistered => 0,
        };
        let key = self.parent();
        let key = key.map_or(0, |key| key.name.len() + length(key.namespace.as_ref()));
        texts + key
    }
}

impl LeaderChange {
    fn bytes(&self) -> usize {
        match self {
            Self::Gained => 0,
            Self::Lost { to } | Self::Passed { to } => length(to.as_ref()),
        }
    }
}

/// A text of others, shortened.
pub(super) fn short(text: &str) -> Arc<str> {
    if text.len() <= MAX_TEXT {
        return text.into();
    }
    format!("{}…", &text[..text.floor_char_boundary(MAX_TEXT)]).into()
}

/// Whether a child was changed on the server.
pub(super) fn is_write(decision: &Decision) -> bool {
    decision.what != Decided::Unchanged && decision.what.verb().is_some()
}

fn are_alike(decisions: &[Decision], others: &[Decision]) -> bool {
    let manager = |one: &Decision| one.drift.as_ref().map(|drift| drift.manager.clone());
    decisions.len() == others.len()
        && decisions.iter().zip(others).all(|(one, other)| {
            one.what == other.what
                && one.child == other.child
                && one.paths == other.paths
                && manager(one) == manager(other)
        })
}

fn bytes_of(decision: &Decision) -> usize {
    let Decision { child, what: _, paths, why, drift } = decision;
    let paths: usize = paths.iter().map(|path| size_of::<String>() + path.len()).sum();
    let drift = drift
        .as_ref()
        .map_or(0, |drift| size_of_val(&**drift) + drift.manager.as_ref().map_or(0, String::len));
    size_of::<Decision>() + child.len() + paths + why.as_ref().map_or(0, |why| why.len()) + drift
}

fn length(text: Option<&Arc<str>>) -> usize {
    text.map_or(0, |text| text.len())
}
