//! The objects of one resource: their newest states, and the revisions that led there.
//!
//! Not synchronised: the [`Log`](super::Log) holds all tables under one lock.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::watch;

use super::{
    Event, Object, ObjectKey, Revision,
    part::{Found, Part},
    states::States,
};

/// How many bytes are read at once: they are kept until a slow watch has sent them.
const STRETCH: usize = 1 << 20;

/// The requested versions have been compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compacted {
    /// The oldest version that can still be resumed from.
    pub oldest: u64,
}

/// How many bytes of objects there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Space {
    /// In newest states.
    pub(super) current: usize,
    /// In revisions.
    pub(super) history: usize,
}

/// The objects and the history of one resource.
#[derive(Debug)]
pub(super) struct Table {
    current: States,
    revisions: VecDeque<Arc<Revision>>,
    floor: u64,
    capacity: usize,
    space: Space,
    announce: watch::Sender<u64>,
}

impl Table {
    pub(super) fn new(floor: u64, capacity: usize) -> Self {
        Self {
            current: States::default(),
            revisions: VecDeque::new(),
            floor,
            capacity,
            space: Space::default(),
            announce: watch::Sender::new(floor),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.current.len()
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Option<&Arc<Object>> {
        self.current.get(key)
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.announce.subscribe()
    }

    pub(super) fn part_at(&self, version: u64, part: Part<'_>) -> Result<Found, Compacted> {
        self.check(version)?;
        Ok(part.read(&self.current, &self.revisions, version))
    }

    pub(super) fn revisions_after(
        &self,
        version: u64,
        limit: usize,
        upto: u64,
    ) -> Result<(Vec<Arc<Revision>>, bool), Compacted> {
        self.check(version)?;
        let end = self.revisions.partition_point(|r| r.version <= upto);
        let start = self.revisions.partition_point(|r| r.version <= version).min(end);
        let mut size = 0;
        let is_in_stretch = |revision: &&Arc<Revision>| {
            let is_first = size == 0;
            size += revision.object.size();
            is_first || size <= STRETCH
        };
        let later = self.revisions.range(start..end).take(limit).take_while(is_in_stretch);
        let later: Vec<Arc<Revision>> = later.cloned().collect();
        let is_complete = start + later.len() == end;
        Ok((later, is_complete))
    }

    fn check(&self, version: u64) -> Result<(), Compacted> {
        if version < self.floor { Err(Compacted { oldest: self.floor }) } else { Ok(()) }
    }

    pub(super) fn push(&mut self, revision: Arc<Revision>) {
        let size = revision.object.size();
        let previous = match revision.event {
            Event::Deleted => self.current.remove(&revision.key),
            Event::Added | Event::Modified => {
                self.space.current += size;
                self.current.insert(revision.key.clone(), Arc::clone(&revision.object))
            }
        };
        self.space.current -= previous.map_or(0, |object| object.size());
        self.space.history += size;
        self.revisions.push_back(revision);
        while self.revisions.len() > self.capacity {
            self.forget_oldest();
        }
    }

    /// Notifies readers of revisions up to a version.
    pub(super) fn announce(&self, version: u64) {
        self.announce.send_replace(version);
    }

    /// Forgets the oldest revision.
    pub(super) fn forget_oldest(&mut self) {
        if let Some(revision) = self.revisions.pop_front() {
            self.floor = revision.version;
            self.space.history -= revision.object.size();
        }
    }

    /// The version of the oldest revision.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.revisions.front().map(|revision| revision.version)
    }

    pub(super) fn space(&self) -> Space {
        self.space
    }

    /// All newest states.
    pub(super) fn states(&self) -> &States {
        &self.current
    }

    /// Resets the table to these states.
    pub(super) fn restore(&mut self, states: States, head: u64) {
        self.space.current = states.iter().map(|(_, object)| object.size()).sum();
        self.current = states;
        self.compact(head);
        self.announce.send_replace(head);
    }

    pub(super) fn compact(&mut self, head: u64) {
        self.revisions.clear();
        self.space.history = 0;
        self.floor = head;
    }
}
