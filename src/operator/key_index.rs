//! The children of one type by key, in constant time however many they are.

use std::{
    hash::{BuildHasher, RandomState},
    sync::OnceLock,
};

use hashbrown::HashTable;

use crate::object::{KeyRef, Object};

/// Fewer children than this are found sooner by halving than a table of them is made.
const WORTH_A_TABLE: usize = 64;

/// Where each of many children stands. Made by the first look-up: most handlers walk over their
/// children, or have few.
#[derive(Debug, Clone, Default)]
pub(super) struct KeyIndex(OnceLock<Table>);

#[derive(Debug, Clone)]
struct Table {
    hasher: RandomState,
    places: HashTable<usize>,
}

impl KeyIndex {
    /// The child with this key among those that the index is of, which are sorted by key.
    pub(super) fn find<'a>(&self, children: &'a [Object], key: KeyRef<'_>) -> Option<&'a Object> {
        if children.len() < WORTH_A_TABLE {
            return halving(children, key);
        }
        self.0.get_or_init(|| Table::of(children)).find(children, key)
    }

    /// To be said when other children take the place of those that the index is of.
    pub(super) fn forget(&mut self) {
        self.0.take();
    }
}

/// The child with this key among children that are sorted by key.
pub(super) fn halving<'a>(children: &'a [Object], key: KeyRef<'_>) -> Option<&'a Object> {
    let by_key = |child: &Object| KeyRef::from(child.key()).cmp(&key);
    children.binary_search_by(by_key).ok().map(|at| &children[at])
}

impl Table {
    fn of(children: &[Object]) -> Self {
        let hasher = RandomState::new();
        let hash_at = |at: &usize| hasher.hash_one(KeyRef::from(children[*at].key()));
        let mut places = HashTable::with_capacity(children.len());
        for at in 0..children.len() {
            places.insert_unique(hash_at(&at), at, hash_at);
        }
        Self { hasher, places }
    }

    fn find<'a>(&self, children: &'a [Object], key: KeyRef<'_>) -> Option<&'a Object> {
        let is_it = |at: &usize| KeyRef::from(children[*at].key()) == key;
        self.places.find(self.hasher.hash_one(key), is_it).map(|at| &children[*at])
    }
}
