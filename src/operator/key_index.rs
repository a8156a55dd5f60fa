//! The children of one type by key, in constant time however many they are.

use std::{
    hash::{BuildHasher, RandomState},
    sync::OnceLock,
};

use hashbrown::HashTable;

use crate::object::{KeyRef, Object};

/// With fewer children a binary search is faster than building a table.
const MIN_TABLE: usize = 64;

/// The positions of many children. Built by the first look-up: most handlers iterate over their
/// children, or have few.
#[derive(Debug, Clone, Default)]
pub(super) struct KeyIndex(OnceLock<Table>);

#[derive(Debug, Clone)]
struct Table {
    hasher: RandomState,
    positions: HashTable<usize>,
}

impl KeyIndex {
    /// The position of the child with this key among those that the index is of, which are sorted by key.
    pub(super) fn find(&self, children: &[Object], key: KeyRef<'_>) -> Option<usize> {
        if children.len() < MIN_TABLE {
            return binary_search(children, key);
        }
        self.0.get_or_init(|| Table::of(children)).find(children, key)
    }

    /// Drops the table; to be called when the children change.
    pub(super) fn forget(&mut self) {
        self.0.take();
    }
}

/// The position of the child with this key among children that are sorted by key.
pub(super) fn binary_search(children: &[Object], key: KeyRef<'_>) -> Option<usize> {
    children.binary_search_by(|child| KeyRef::from(child.key()).cmp(&key)).ok()
}

impl Table {
    fn of(children: &[Object]) -> Self {
        let hasher = RandomState::new();
        let hash_at = |at: &usize| hasher.hash_one(KeyRef::from(children[*at].key()));
        let mut positions = HashTable::with_capacity(children.len());
        for at in 0..children.len() {
            positions.insert_unique(hash_at(&at), at, hash_at);
        }
        Self { hasher, positions }
    }

    fn find(&self, children: &[Object], key: KeyRef<'_>) -> Option<usize> {
        let is_it = |at: &usize| KeyRef::from(children[*at].key()) == key;
        self.positions.find(self.hasher.hash_one(key), is_it).copied()
    }
}
