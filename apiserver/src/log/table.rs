//! The objects of one resource: their newest states, and the revisions that led there.
//!
//! Not synchronised: the [`Log`](super::Log) holds all tables under one lock.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::watch;

use super::{
    Event, Object, ObjectKey, Revision,
    part::{Found, Part, States},
};

/// The requested versions have been compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compacted {
    /// The oldest version that can still be resumed from.
    pub oldest: u64,
}

/// The objects and the history of one resource.
#[derive(Debug)]
pub(super) struct Table {
    current: States,
    revisions: VecDeque<Arc<Revision>>,
    floor: u64,
    capacity: usize,
    announce: watch::Sender<u64>,
}

impl Table {
    pub(super) fn new(floor: u64, capacity: usize) -> Self {
        Self {
            current: States::new(),
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

    pub(super) fn part(&self, head: u64, part: Part<'_>) -> Found {
        part.read(&self.current, &self.revisions, head)
    }

    pub(super) fn part_at(&self, version: u64, part: Part<'_>) -> Result<Found, Compacted> {
        self.check(version)?;
        Ok(self.part(version, part))
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
    pub(super) fn states(&self) -> States {
        self.current.clone()
    }

    /// Resets the table to these states.
    pub(super) fn restore(&mut self, states: States, head: u64) {
        self.current = states;
        self.compact(head);
        self.announce.send_replace(head);
    }

    pub(super) fn compact(&mut self, head: u64) {
        self.revisions.clear();
        self.floor = head;
    }
}
