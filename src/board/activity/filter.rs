//! Which entries are shown: what a reader asked for, which is also what they may see.

use std::{collections::BTreeSet, time::SystemTime};

use super::{entry::Entry, kind::ActivityKind, piece::Piece};

/// Which entries to list; the default lists all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ActivityFilter {
    /// Only those of this operator.
    pub(crate) operator: Option<String>,
    /// Only those about parents in this namespace: nothing about an operator as a whole, and no denials.
    pub(crate) namespace: Option<String>,
    /// Only those of these kinds; none means any.
    pub(crate) kinds: BTreeSet<ActivityKind>,
    /// Only those that contain this text, ignoring case.
    pub(crate) text: Option<String>,
    /// Only those that happened then or later.
    pub(crate) since: Option<SystemTime>,
}

impl ActivityFilter {
    pub(super) fn wants_entry(&self, entry: &Entry) -> bool {
        let namespace = || entry.what.parent().and_then(|parent| parent.namespace.as_deref());
        self.operator.as_deref().is_none_or(|operator| entry.is_of(operator))
            && self.namespace.as_deref().is_none_or(|wanted| namespace() == Some(wanted))
            && self.since.is_none_or(|since| entry.last >= since)
    }

    /// Whether it wants this part of an entry that it wants. `text` is that of the filter in small letters.
    pub(super) fn wants(&self, piece: &Piece<'_>, text: Option<&str>) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&piece.kind))
            && text.is_none_or(|text| piece.contains(text))
    }
}
