//! Values that many objects have, stored once.

use std::{
    borrow::Borrow,
    collections::HashSet,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};

/// With fewer values the unused ones are not searched for.
pub(super) const FEWEST: usize = 64;

/// Values that many objects have, stored once.
#[derive(Debug)]
pub(super) struct Shared<T: ?Sized> {
    pub(super) known: HashSet<Arc<T>>,
    /// How many there may be before the unused ones are dropped.
    limit: usize,
}

pub(super) fn one_of<T, V>(shared: &Mutex<Shared<T>>, value: V) -> Arc<T>
where
    T: ?Sized + Eq + Hash,
    V: Borrow<T> + Into<Arc<T>>,
{
    shared.lock().unwrap_or_else(PoisonError::into_inner).one(value)
}

impl<T: ?Sized + Eq + Hash> Shared<T> {
    fn one<V: Borrow<T> + Into<Arc<T>>>(&mut self, value: V) -> Arc<T> {
        if let Some(known) = self.known.get(value.borrow()) {
            return known.clone();
        }
        if self.known.len() >= self.limit {
            self.known.retain(|value| Arc::strong_count(value) > 1);
            self.limit = (self.known.len() * 2).max(FEWEST);
        }
        let value: Arc<T> = value.into();
        self.known.insert(value.clone());
        value
    }
}

impl<T: ?Sized> Default for Shared<T> {
    fn default() -> Self {
        Self { known: HashSet::new(), limit: 0 }
    }
}
