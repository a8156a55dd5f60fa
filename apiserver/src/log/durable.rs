//! What persistence needs of the log: every change in order, and the way back from what was persisted.
//!
//! A log that is not persisted pays nothing for this. No I/O happens here.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use tokio::sync::mpsc;

use super::{Backup, Committed, Event, Log, Object, ObjectKey, Revision, State, States};
use crate::resource::GroupResource;

/// One change of the log.
#[derive(Debug)]
pub(crate) enum Change {
    /// A revision was added.
    Committed(Committed),
    /// The history up to this version was forgotten.
    Compacted(u64),
    /// All objects were replaced.
    Restored(Backup),
}

/// A log as it was persisted.
#[derive(Debug, Default)]
pub(crate) struct Persisted {
    /// The version of the states below.
    pub floor: u64,
    /// The states at the floor.
    pub states: HashMap<Arc<GroupResource>, States>,
    /// What happened since then, in order.
    pub revisions: Vec<PersistedRevision>,
}

/// A persisted revision. The state before it follows from earlier revisions.
#[derive(Debug)]
pub(crate) struct PersistedRevision {
    /// The resource.
    pub resource: Arc<GroupResource>,
    /// The name of the object.
    pub key: ObjectKey,
    /// The state after it, with its version and what happened.
    pub object: Arc<Object>,
}

/// The progress of persistence.
#[derive(Debug)]
pub(super) struct Persistence {
    changes: Option<mpsc::UnboundedSender<Change>>,
    count: u64,
    durable: u64,
}

impl Log {
    /// Fills an empty log with what was persisted.
    pub(crate) fn recover(&self, persisted: Persisted) {
        let mut state = self.lock();
        let Persisted { floor, states, revisions } = persisted;
        (state.head, state.floor) = (floor, floor);
        for (resource, states) in states {
            for (key, object) in &states {
                state.index(&resource, key, None, Some(object));
            }
            state.table(&resource, self.capacity).restore(states, floor);
        }
        for PersistedRevision { resource, key, object } in revisions {
            let previous = state.table(&resource, self.capacity).get(&key).cloned();
            let version = object.meta.resource_version;
            let event = object.event;
            let revision = Arc::new(Revision { version, event, key, previous, object });
            state.push(self.capacity, &Committed { resource, revision });
        }
        state.forget(self.space / 2);
    }

    /// Every change from now on. From now on watches wait until [`Log::mark_durable`] is called.
    pub(crate) fn changes(&self) -> mpsc::UnboundedReceiver<Change> {
        let (changes, receiver) = mpsc::unbounded_channel();
        let mut state = self.lock();
        state.persistence =
            Some(Persistence { changes: Some(changes), count: 0, durable: state.head });
        receiver
    }

    /// Ends the changes: later ones do not become durable.
    pub(crate) fn end_changes(&self) {
        if let Some(persistence) = &mut self.lock().persistence {
            persistence.changes = None;
        }
    }

    /// The number of changes so far, if they are persisted.
    pub(crate) fn change_count(&self) -> u64 {
        self.lock().persistence.as_ref().map_or(0, |persistence| persistence.count)
    }

    /// Shows the watches of these resources the revisions up to a version, which are durable.
    pub(crate) fn mark_durable(&self, version: u64, resources: &HashSet<Arc<GroupResource>>) {
        let mut state = self.lock();
        if let Some(persistence) = &mut state.persistence {
            persistence.durable = version;
        }
        for resource in resources {
            if let Some(table) = state.tables.get(resource) {
                table.announce(version);
            }
        }
    }

    /// The present states as if they had just been created, then every revision from now on.
    pub(crate) fn follow_states(&self) -> mpsc::UnboundedReceiver<Committed> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut state = self.lock();
        for (resource, table) in &state.tables {
            for (key, object) in table.states() {
                let version = object.meta.resource_version;
                let event = Event::Added;
                let revision = Arc::new(Revision { version, event, key, previous: None, object });
                // The receiver is here.
                let _ = sender.send(Committed { resource: Arc::clone(resource), revision });
            }
        }
        state.followers.push(sender);
        receiver
    }
}

impl State {
    /// The newest version that watches may see.
    pub(super) fn visible(&self) -> u64 {
        let durable = self.persistence.as_ref().map(|persistence| persistence.durable);
        durable.map_or(self.head, |durable| durable.min(self.head))
    }

    /// Reports a change to the persistence, if there is one.
    pub(super) fn report(&mut self, change: impl FnOnce() -> Change) {
        if let Some(persistence) = &mut self.persistence {
            persistence.count += 1;
            if let Some(changes) = &persistence.changes {
                // After a failed write nothing receives any more, and every request is refused.
                let _ = changes.send(change());
            }
        }
    }
}
