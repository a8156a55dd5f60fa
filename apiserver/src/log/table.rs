//! The objects of one resource: their newest states, and the revisions that led there.
//!
//! Not synchronised: the [`Log`](super::Log) holds all tables under one lock.

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Bound,
    sync::Arc,
};

use tokio::sync::watch;

use super::{Event, Object, ObjectKey, Scope};

/// One applied write.
#[derive(Debug, Clone)]
pub(crate) struct Revision {
    /// The store's version after the write.
    pub version: u64,
    /// What the write did.
    pub event: Event,
    /// Whose state it changed.
    pub key: ObjectKey,
    /// The state before; `None` for a creation.
    pub previous: Option<Arc<Object>>,
    /// The state after; for a deletion the last state, under the version of the deletion.
    pub object: Arc<Object>,
}

/// The versions asked for have been forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compacted {
    /// The oldest version that can still be resumed from.
    pub oldest: u64,
}

/// The objects and the history of one resource.
#[derive(Debug)]
pub(super) struct Table {
    current: BTreeMap<ObjectKey, Arc<Object>>,
    revisions: VecDeque<Arc<Revision>>,
    floor: u64,
    capacity: usize,
    announce: watch::Sender<u64>,
}

impl Table {
    pub(super) fn new(floor: u64, capacity: usize) -> Self {
        Self {
            current: BTreeMap::new(),
            revisions: VecDeque::new(),
            floor,
            capacity,
            announce: watch::Sender::new(floor),
        }
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.current.get(key)
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.announce.subscribe()
    }

    pub(super) fn objects(&self, scope: &Scope) -> Vec<Arc<Object>> {
        self.range(scope, None).map(|(_, object)| Arc::clone(object)).collect()
    }

    pub(super) fn entries(&self, scope: &Scope) -> Vec<(ObjectKey, Arc<Object>)> {
        self.entries_after(scope, None)
    }

    fn entries_after(
        &self,
        scope: &Scope,
        after: Option<&ObjectKey>,
    ) -> Vec<(ObjectKey, Arc<Object>)> {
        let entries = self.range(scope, after);
        entries.map(|(key, object)| (key.clone(), Arc::clone(object))).collect()
    }

    fn range<'a>(
        &'a self,
        scope: &'a Scope,
        after: Option<&ObjectKey>,
    ) -> impl Iterator<Item = (&'a ObjectKey, &'a Arc<Object>)> {
        // No object has the first key of a scope, which has no name.
        let first = scope.start();
        let start = after.filter(|after| **after > first).cloned().unwrap_or(first);
        let keys = (Bound::Excluded(start), Bound::Unbounded);
        self.current.range(keys).take_while(|(key, _)| scope.contains(key))
    }

    /// The entries after a key, as they were at an older version, by undoing what came later.
    pub(super) fn entries_at(
        &self,
        scope: &Scope,
        version: u64,
        after: Option<&ObjectKey>,
    ) -> Result<Vec<(ObjectKey, Arc<Object>)>, Compacted> {
        self.check(version)?;
        let entries = self.entries_after(scope, after);
        let is_meant =
            |key: &ObjectKey| scope.contains(key) && after.is_none_or(|after| key > after);
        let later = self.revisions.iter().rev().take_while(|r| r.version > version);
        let mut later = later.filter(|r| is_meant(&r.key)).peekable();
        if later.peek().is_none() {
            return Ok(entries);
        }
        let mut entries: BTreeMap<ObjectKey, Arc<Object>> = entries.into_iter().collect();
        for revision in later {
            match &revision.previous {
                Some(object) => entries.insert(revision.key.clone(), Arc::clone(object)),
                None => entries.remove(&revision.key),
            };
        }
        Ok(entries.into_iter().collect())
    }

    pub(super) fn revisions_after(
        &self,
        version: u64,
        limit: usize,
    ) -> Result<Vec<Arc<Revision>>, Compacted> {
        self.check(version)?;
        let start = self.revisions.partition_point(|r| r.version <= version);
        Ok(self.revisions.iter().skip(start).take(limit).cloned().collect())
    }

    fn check(&self, version: u64) -> Result<(), Compacted> {
        if version < self.floor { Err(Compacted { oldest: self.floor }) } else { Ok(()) }
    }

    pub(super) fn push(&mut self, revision: Arc<Revision>) {
        match revision.event {
            Event::Deleted => self.current.remove(&revision.key),
            Event::Added | Event::Modified => {
                self.current.insert(revision.key.clone(), Arc::clone(&revision.object))
            }
        };
        let version = revision.version;
        self.revisions.push_back(revision);
        while self.revisions.len() > self.capacity {
            self.floor = self.revisions.pop_front().map_or(self.floor, |r| r.version);
        }
        self.announce.send_replace(version);
    }

    /// All newest states.
    pub(super) fn states(&self) -> BTreeMap<ObjectKey, Arc<Object>> {
        self.current.clone()
    }

    /// Begins anew with these states.
    pub(super) fn restore(&mut self, states: BTreeMap<ObjectKey, Arc<Object>>, head: u64) {
        self.current = states;
        self.compact(head);
        self.announce.send_replace(head);
    }

    pub(super) fn compact(&mut self, head: u64) {
        self.revisions.clear();
        self.floor = head;
    }
}
