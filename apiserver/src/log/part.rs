//! Reads a part of a table's states in the order of their keys: after a key, limited in number, at the
//! head or at an older version.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
    sync::Arc,
};

use super::{Object, ObjectKey, Revision, Scope};

/// Which part of a resource's objects a read is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    /// Those within.
    pub scope: &'a Scope,
    /// Of these, those after this key.
    pub after: Option<&'a ObjectKey>,
    /// Of these, at most so many.
    pub limit: usize,
    /// Whether it matters how many more there are.
    pub counts: bool,
}

/// What a part holds.
#[derive(Debug)]
pub(crate) struct Found {
    /// The version at which the states are.
    pub version: u64,
    /// The objects with their keys.
    pub entries: Vec<(ObjectKey, Arc<Object>)>,
    /// How many more there are after the limit; one if the number does not matter.
    pub remaining: usize,
}

/// Newest states.
pub(crate) type States = BTreeMap<ObjectKey, Arc<Object>>;

type Entry<'a> = (&'a ObjectKey, &'a Arc<Object>);

impl<'a> Part<'a> {
    /// Everything within a scope.
    pub(crate) fn all(scope: &'a Scope) -> Self {
        Self { scope, after: None, limit: usize::MAX, counts: false }
    }

    /// The states of this part at a version, by undoing later revisions.
    pub(super) fn read(
        &self,
        states: &States,
        revisions: &VecDeque<Arc<Revision>>,
        version: u64,
    ) -> Found {
        let undone = self.undone(revisions, version);
        let unchanged = self.range(states).filter(|(key, _)| !undone.contains_key(key));
        let earlier = undone.iter().filter_map(|(key, object)| Some((*key, (*object)?)));
        let mut all = merged(unchanged, earlier);
        let entries = all.by_ref().take(self.limit);
        let entries = entries.map(|(key, object)| (key.clone(), Arc::clone(object))).collect();
        let remaining = if self.counts { all.count() } else { all.take(1).count() };
        Found { version, entries, remaining }
    }

    fn range<'s>(&self, states: &'s States) -> impl Iterator<Item = Entry<'s>> {
        // No object has the first key of a scope, which has no name.
        let first = self.scope.start();
        let start = self.after.filter(|after| **after > first).cloned().unwrap_or(first);
        let keys = (Bound::Excluded(start), Bound::Unbounded);
        states.range(keys).take_while(|(key, _)| self.scope.contains(key))
    }

    /// What was changed after a version, as it was then.
    fn undone<'s>(
        &self,
        revisions: &'s VecDeque<Arc<Revision>>,
        version: u64,
    ) -> BTreeMap<&'s ObjectKey, Option<&'s Arc<Object>>> {
        let later = revisions.iter().rev().take_while(|revision| revision.version > version);
        let later = later.filter(|revision| self.includes(&revision.key));
        // The earliest of several comes last, and stays.
        later.map(|revision| (&revision.key, revision.previous.as_ref())).collect()
    }

    fn includes(&self, key: &ObjectKey) -> bool {
        self.scope.contains(key) && self.after.is_none_or(|after| key > after)
    }
}

impl Found {
    /// That there is nothing.
    pub(super) fn nothing(version: u64) -> Self {
        Self { version, entries: Vec::new(), remaining: 0 }
    }
}

/// Both in one order, if both are in order.
fn merged<'a>(
    left: impl Iterator<Item = Entry<'a>>,
    right: impl Iterator<Item = Entry<'a>>,
) -> impl Iterator<Item = Entry<'a>> {
    let (mut left, mut right) = (left.peekable(), right.peekable());
    std::iter::from_fn(move || match (left.peek(), right.peek()) {
        (Some((left_key, _)), Some((right_key, _))) if left_key < right_key => left.next(),
        (_, Some(_)) => right.next(),
        (_, None) => left.next(),
    })
}
