//! What objects were before they were changed, as long as a revision is read in which they were so.

use std::collections::{BTreeMap, VecDeque};

use super::Contents;
use crate::{
    object::{Object, ObjectKey, Uid},
    store::revisions::Advanced,
};

/// The changes of a store since the oldest revision that is read.
#[derive(Debug, Default)]
pub(super) struct Superseded {
    /// The revision of the last change of the store.
    revision: u64,
    is_read: bool,
    changes: VecDeque<Was>,
}

/// An object as it was until a revision.
#[derive(Debug)]
struct Was {
    until: u64,
    key: ObjectKey,
    /// `None` if there was none.
    object: Option<Object>,
}

impl Superseded {
    /// Objects become what they were not.
    pub(super) fn add(&mut self, key: &ObjectKey, object: Option<&Object>) {
        if self.is_read {
            let (until, key, object) = (self.revision, key.clone(), object.cloned());
            self.changes.push_back(Was { until, key, object });
        }
    }

    /// The changes after a revision, in their order.
    fn after(&self, revision: u64) -> impl Iterator<Item = &Was> {
        let is_known = self.revision <= revision;
        self.changes.iter().filter(move |was| !is_known && was.until > revision)
    }

    /// What was changed after a revision, as it was then.
    fn back_to(&self, revision: u64) -> BTreeMap<&ObjectKey, Option<&Object>> {
        let mut were = BTreeMap::new();
        for was in self.after(revision) {
            were.entry(&was.key).or_insert(was.object.as_ref());
        }
        were
    }
}

impl Contents {
    /// A change begins.
    pub(in crate::store) fn begin_change(&mut self, advanced: Advanced) {
        let Superseded { revision, is_read, changes } = &mut self.superseded;
        (*revision, *is_read) = (advanced.revision, advanced.oldest_pinned.is_some());
        let oldest = advanced.oldest_pinned.unwrap_or(u64::MAX);
        while changes.front().is_some_and(|was| was.until <= oldest) {
            changes.pop_front();
        }
    }

    /// The revision of the last change.
    pub(in crate::store) fn revision(&self) -> u64 {
        self.superseded.revision
    }

    #[cfg(test)]
    pub(in crate::store) fn kept(&self) -> usize {
        self.superseded.changes.len()
    }

    pub(in crate::store) fn get_at(&self, revision: u64, key: &ObjectKey) -> Option<&Object> {
        match self.superseded.after(revision).find(|was| was.key == *key) {
            Some(was) => was.object.as_ref(),
            None => self.get(key),
        }
    }

    pub(in crate::store) fn of_parent_at(&self, revision: u64, parent: &Uid) -> Vec<Object> {
        let were = self.superseded.back_to(revision);
        let now = self.of_parent(parent).filter(|object| !were.contains_key(object.key()));
        let were = were.values().flatten().copied();
        let before = were.filter(|object| self.parents_of(object).contains(parent));
        let mut all: Vec<Object> = now.chain(before).cloned().collect();
        all.sort_unstable_by(|a, b| a.key().cmp(b.key()));
        all
    }

    /// All objects, in no order.
    pub(in crate::store) fn objects_at(&self, revision: u64) -> impl Iterator<Item = &Object> {
        let were = self.superseded.back_to(revision);
        let before: Vec<&Object> = were.values().flatten().copied().collect();
        self.objects().filter(move |object| !were.contains_key(object.key())).chain(before)
    }
}
