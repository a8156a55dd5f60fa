//! The children of one type, sorted by key.

use super::{
    key_index::{KeyIndex, binary_search},
    parsed::{Parsed, Slots},
};
use crate::object::{K8sType, KeyRef, Object};

#[derive(Clone)]
pub(super) struct ChildrenOfType {
    pub(super) ty: K8sType,
    pub(super) objects: Vec<Object>,
    by_key: KeyIndex,
    parsed: Parsed,
}

impl ChildrenOfType {
    pub(super) fn new(ty: K8sType, mut objects: Vec<Object>) -> Self {
        objects.sort_unstable_by(|a, b| a.key().cmp(b.key()));
        Self { ty, objects, by_key: KeyIndex::default(), parsed: Parsed::default() }
    }

    /// The position of the child with this key.
    pub(super) fn find(&self, key: KeyRef<'_>) -> Option<usize> {
        self.by_key.find(&self.objects, key)
    }

    /// The position of the child with this name in the first namespace that has one.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        let mut begin = 0;
        while let Some(first) = self.objects.get(begin) {
            let (namespace, rest) = (first.namespace(), &self.objects[begin..]);
            if let Some(found) = binary_search(rest, KeyRef { namespace, name }) {
                return Some(begin + found);
            }
            begin += rest.partition_point(|object| object.namespace() <= namespace);
        }
        None
    }

    /// The places of the children as a Rust type, by position.
    pub(super) fn slots<C: Send + Sync + 'static>(&self) -> &Slots<C> {
        self.parsed.slots(self.objects.len())
    }

    /// Adds a child, or replaces the one of its key.
    pub(super) fn insert(&mut self, child: Object) {
        self.by_key.forget();
        self.parsed.forget();
        match self.objects.binary_search_by(|object| object.key().cmp(child.key())) {
            Ok(at) => self.objects[at] = child,
            Err(at) => self.objects.insert(at, child),
        }
    }
}
