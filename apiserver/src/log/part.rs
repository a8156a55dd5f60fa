//! Reads a part of a table's states in the order of their keys: after a key, limited in number, at the
//! head or at an older version.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use super::{
    Object, ObjectKey, Revision, Scope,
    states::{Entry, States},
};

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

/// What was changed after a version, as it was then.
type Undone<'a> = BTreeMap<&'a ObjectKey, Option<&'a Arc<Object>>>;

type Borrowed<'a> = (&'a ObjectKey, &'a Arc<Object>);

impl<'a> Part<'a> {
    /// Everything within a scope.
    pub(crate) fn all(scope: &'a Scope) -> Self {
        Self { scope, after: None, limit: usize::MAX, counts: false }
    }

    /// The newest states of this part.
    pub(super) fn newest(&self, states: &States, head: u64) -> Found {
        self.read(states, &VecDeque::new(), head)
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
        let entries: Vec<Entry> =
            entries.map(|(key, object)| (key.clone(), Arc::clone(object))).collect();
        let is_more = all.next().is_some();
        let remaining = match entries.last() {
            Some((last, _)) if is_more && self.counts => self.count_after(last, states, &undone),
            _ => usize::from(is_more),
        };
        Found { version, entries, remaining }
    }

    fn range<'s>(&self, states: &'s States) -> impl Iterator<Item = Borrowed<'s>> {
        // No object has the first key of a scope, which has no name.
        let first = self.scope.start();
        let start = self.after.filter(|after| **after > first).unwrap_or(&first);
        let later = states.after(start).map(|(key, object)| (key, object));
        later.take_while(|(key, _)| self.scope.contains(key))
    }

    /// How many states of the scope are behind a key: those that are there now, without the ones that were not there then,
    /// and with those that were.
    fn count_after(&self, last: &ObjectKey, states: &States, undone: &Undone<'_>) -> usize {
        let end = self.scope.end().map_or(states.len(), |end| states.count_to(&end));
        let later = || undone.iter().filter(|(key, _)| **key > last);
        let new = later().filter(|(key, _)| states.get(key).is_some()).count();
        let old = later().filter(|(_, object)| object.is_some()).count();
        end - states.count_to(last) - new + old
    }

    fn undone<'s>(&self, revisions: &'s VecDeque<Arc<Revision>>, version: u64) -> Undone<'s> {
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
    left: impl Iterator<Item = Borrowed<'a>>,
    right: impl Iterator<Item = Borrowed<'a>>,
) -> impl Iterator<Item = Borrowed<'a>> {
    let (mut left, mut right) = (left.peekable(), right.peekable());
    std::iter::from_fn(move || match (left.peek(), right.peek()) {
        (Some((left_key, _)), Some((right_key, _))) if left_key < right_key => left.next(),
        (_, Some(_)) => right.next(),
        (_, None) => left.next(),
    })
}
