//! Reads of a store as it was at an earlier revision.

use super::Contents;
use crate::{
    object::{Object, ObjectKey, Uid},
    store::revisions::Advanced,
};

impl Contents {
    /// A change begins.
    pub(in crate::store) fn begin_change(&mut self, advanced: Advanced) {
        self.superseded.begin_change(advanced);
    }

    /// The revision of the last change.
    pub(in crate::store) fn revision(&self) -> u64 {
        self.superseded.revision()
    }

    #[cfg(test)]
    pub(in crate::store) fn kept(&self) -> usize {
        self.superseded.kept()
    }

    pub(in crate::store) fn get_at(&self, revision: u64, key: &ObjectKey) -> Option<&Object> {
        self.superseded.object(revision, key, || self.get(key))
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
