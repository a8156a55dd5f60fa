//! What objects were before they were changed, as long as a revision is read in which they were so.

use std::collections::{BTreeMap, VecDeque};

use crate::{
    object::{Object, ObjectKey},
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
    /// A change of the store begins.
    pub(super) fn begin_change(&mut self, advanced: Advanced) {
        (self.revision, self.is_read) = (advanced.revision, advanced.oldest_pinned.is_some());
        let oldest = advanced.oldest_pinned.unwrap_or(u64::MAX);
        while self.changes.front().is_some_and(|was| was.until <= oldest) {
            self.changes.pop_front();
        }
    }

    /// The revision of the last change.
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.changes.len()
    }

    /// Objects become what they were not.
    pub(super) fn add(&mut self, key: &ObjectKey, object: Option<&Object>) {
        if self.is_read {
            let (until, key, object) = (self.revision, key.clone(), object.cloned());
            self.changes.push_back(Was { until, key, object });
        }
    }

    /// An object at a revision. An object that was not changed afterwards is as it is `now`.
    pub(super) fn object<'a>(
        &'a self,
        revision: u64,
        key: &ObjectKey,
        now: impl FnOnce() -> Option<&'a Object>,
    ) -> Option<&'a Object> {
        let was = self.after(revision).find(|was| was.key == *key);
        was.map_or_else(now, |was| was.object.as_ref())
    }

    /// The changes after a revision, in their order.
    fn after(&self, revision: u64) -> impl Iterator<Item = &Was> {
        let is_known = self.revision <= revision;
        self.changes.iter().filter(move |was| !is_known && was.until > revision)
    }

    /// What was changed after a revision, as it was then.
    pub(super) fn back_to(&self, revision: u64) -> BTreeMap<&ObjectKey, Option<&Object>> {
        let mut were = BTreeMap::new();
        for was in self.after(revision) {
            were.entry(&was.key).or_insert(was.object.as_ref());
        }
        were
    }
}
