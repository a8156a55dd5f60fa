//! A line of the timeline, and the names in it.

use std::{borrow::ToOwned, collections::BTreeSet, time::SystemTime};

use super::{entry::LeaderChange, kind::ActivityKind};
use crate::{object::ObjectKey, operator::OperatorName};

/// What happened once, several times, or to many objects at about the same time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    /// Unique. Later lines have larger ones.
    pub(crate) number: u64,
    /// That of its oldest part, which stays the same while it grows.
    pub(crate) began: u64,
    pub(crate) kind: ActivityKind,
    pub(crate) first: SystemTime,
    pub(crate) last: SystemTime,
    /// How many entries it stands for.
    pub(crate) times: u64,
    pub(crate) operators: Names<OperatorName>,
    pub(crate) parents: Names<ObjectKey>,
    /// Types and keys.
    pub(crate) children: Names<String>,
    /// The JSON paths that were written.
    pub(crate) fields: Names<String>,
    /// Errors, reasons, the Lease, or what a user may not access.
    pub(crate) details: Names<String>,
    /// The field manager, the user, or the kind of a failure.
    pub(crate) who: Option<String>,
    /// Whether others removed the children, of repaired ones.
    pub(crate) is_removed: bool,
    pub(crate) leader: Option<LeaderChange>,
}

/// Different names: the first ones, and how many there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Names<T> {
    pub(crate) kept: Vec<T>,
    pub(crate) count: usize,
}

/// The most names in a line.
const KEPT: usize = 10;

impl<T> Names<T> {
    pub(super) fn of<'a, B>(names: impl Iterator<Item = &'a B>) -> Self
    where
        B: ToOwned<Owned = T> + Ord + ?Sized + 'a,
    {
        let names: BTreeSet<&B> = names.collect();
        let kept = names.iter().take(KEPT).map(|name| (*name).to_owned()).collect();
        Self { kept, count: names.len() }
    }

    /// The same with further ones, whose names are not known.
    pub(super) fn and(self, unnamed: usize) -> Self {
        Self { count: self.count + unnamed, ..self }
    }

    /// How many there are beyond those that are named.
    #[cfg_attr(not(any(test, feature = "dashboard")), expect(dead_code, reason = "for the page"))]
    pub(crate) fn more(&self) -> usize {
        self.count - self.kept.len()
    }
}
