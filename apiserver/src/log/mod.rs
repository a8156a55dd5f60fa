//! The store: an append-only log of revisions under one increasing version, kept per resource.
//!
//! ```text
//!  commit ──> head ──> Table (one per resource): newest states + revisions [floor … head]
//!                        │ view: states at the head, or at an older version (undo)
//!                        └ watch: a cursor = "revisions after v"; a channel says that there are more
//! ```
//!
//! **Invariants.** A version is given to exactly one revision. Revisions of a table are ordered.
//! A reader that has every revision of a table up to *v* and asks for those after *v* misses none,
//! or gets [`Compacted`]. Writes are compare-and-swap on the version of the key.
//! Watches of a log that is persisted (see [`Log::changes`]) see durable revisions only.
//!
//! It knows no HTTP, no schemas and no time.

mod committed;
mod dependents;
mod durable;
mod key;
mod labels;
mod object;
mod part;
mod refused;
mod revision;
mod state;
mod states;
mod table;
mod write;

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{mpsc, watch};

pub(crate) use self::{
    committed::{Backup, Committed},
    durable::{Change, Persisted, PersistedRevision},
    key::{ObjectKey, Scope},
    object::{Event, Meta, Object, OwnerReference},
    part::{Found, Part},
    refused::Refused,
    revision::Revision,
    table::Compacted,
    write::{Expect, Write},
};
use self::{durable::Persistence, state::State, table::Table};
use crate::group_resource::GroupResource;

/// How many objects are read at most while writers wait.
const SHORT: usize = 1_000;

/// The store. Every method is one short critical section.
#[derive(Debug)]
pub(crate) struct Log {
    state: Mutex<State>,
    capacity: usize,
    space: usize,
}

impl Log {
    /// An empty store that remembers at most `capacity` revisions per resource.
    pub(crate) fn new(capacity: usize) -> Self {
        // Version 0 means "any" in requests, so that the first state has version 1.
        let state = Mutex::new(State { head: 1, ..State::default() });
        Self { state, capacity, space: usize::MAX }
    }

    /// The same with at most so many bytes of objects, and half as many of history.
    pub(crate) fn within(self, space: usize) -> Self {
        Self { space, ..self }
    }

    /// The version of the newest revision.
    pub(crate) fn head(&self) -> u64 {
        self.lock().head
    }

    /// The newest state of an object.
    pub(crate) fn get(&self, resource: &GroupResource, key: &ObjectKey) -> Option<Arc<Object>> {
        self.lock().tables.get(resource)?.get(key).cloned()
    }

    /// Whether there is nothing of a resource in a scope.
    pub(crate) fn is_empty(&self, resource: &GroupResource, scope: &Scope) -> bool {
        self.part(resource, Part { limit: 1, ..Part::all(scope) }).entries.is_empty()
    }

    /// The newest states with their keys, and the version at which they are.
    pub(crate) fn entries(
        &self,
        resource: &GroupResource,
        scope: &Scope,
    ) -> (u64, Vec<(ObjectKey, Arc<Object>)>) {
        let Found { version, entries, remaining: _ } = self.part(resource, Part::all(scope));
        (version, entries)
    }

    /// How many objects there are of each resource.
    pub(crate) fn counts(&self) -> Vec<(Arc<GroupResource>, usize)> {
        let state = self.lock();
        state.tables.iter().map(|(resource, table)| (Arc::clone(resource), table.len())).collect()
    }

    /// A part of the newest states.
    pub(crate) fn part(&self, resource: &GroupResource, part: Part<'_>) -> Found {
        let state = self.lock();
        let head = state.head;
        let Some(states) = state.tables.get(resource).map(Table::states) else {
            return Found::nothing(head);
        };
        if part.limit <= SHORT {
            return part.newest(states, head);
        }
        // Writers do not wait for who reads everything.
        let states = states.clone();
        drop(state);
        part.newest(&states, head)
    }

    /// A part of the states as they were at an older version.
    pub(crate) fn part_at(
        &self,
        resource: &GroupResource,
        version: u64,
        part: Part<'_>,
    ) -> Result<Found, Compacted> {
        match self.lock().tables.get(resource) {
            Some(table) => table.part_at(version, part),
            None => Ok(Found::nothing(version)),
        }
    }

    /// At most `limit` revisions after a version, and the version up to which the answer is
    /// complete.
    pub(crate) fn revisions_after(
        &self,
        resource: &Arc<GroupResource>,
        version: u64,
        limit: usize,
    ) -> Result<(u64, Vec<Arc<Revision>>), Compacted> {
        let mut state = self.lock();
        let visible = state.visible();
        let table = state.table(resource, self.capacity);
        let (revisions, complete) = table.revisions_after(version, limit, visible)?;
        let upto = if complete { visible } else { revisions.last().map_or(visible, |r| r.version) };
        Ok((upto.max(version), revisions))
    }

    /// A channel that changes when the resource has a new revision.
    pub(crate) fn subscribe(&self, resource: &Arc<GroupResource>) -> watch::Receiver<u64> {
        self.lock().table(resource, self.capacity).subscribe()
    }

    /// Every revision from now on, of every resource.
    pub(crate) fn follow(&self) -> mpsc::UnboundedReceiver<Committed> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.lock().followers.push(sender);
        receiver
    }

    /// The objects that name this uid among their owners.
    pub(crate) fn dependents(&self, uid: &str) -> Vec<(Arc<GroupResource>, ObjectKey)> {
        self.lock().dependents.of(uid).collect()
    }

    /// Compacts the history: resuming from an older version returns [`Compacted`].
    pub(crate) fn compact(&self) {
        let mut state = self.lock();
        let head = state.head;
        state.floor = head;
        for table in state.tables.values_mut() {
            table.compact(head);
        }
        state.report(|| Change::Compacted(head));
    }

    /// A backup of all objects.
    pub(crate) fn backup(&self) -> Backup {
        let state = self.lock();
        let tables =
            state.tables.iter().map(|(ty, table)| (Arc::clone(ty), table.states().clone()));
        Backup { head: state.head, tables: tables.collect(), dependents: state.dependents.clone() }
    }

    /// Restores all objects and the version; readers of a later version are not notified.
    pub(crate) fn restore(&self, backup: &Backup) {
        let mut state = self.lock();
        state.head = backup.head;
        state.floor = backup.head;
        state.dependents.clone_from(&backup.dependents);
        for (ty, table) in &mut state.tables {
            let states = backup.tables.get(ty).cloned().unwrap_or_default();
            table.restore(states, backup.head);
        }
        state.report(|| Change::Restored(backup.clone()));
    }

    /// Begins an empty store with the objects of another one; returns whether it was empty.
    pub(crate) fn begin(&self, objects: &Backup) -> bool {
        let mut state = self.lock();
        if !state.tables.is_empty() {
            return false;
        }
        state.head = objects.head;
        state.dependents.clone_from(&objects.dependents);
        for (ty, states) in &objects.tables {
            state.table(ty, self.capacity).restore(states.clone(), objects.head);
        }
        state.report(|| Change::Restored(objects.clone()));
        true
    }

    /// Applies a write at the head, if its precondition holds and its object is not too large.
    pub(crate) fn commit(&self, write: Write<'_>) -> Result<Arc<Object>, Refused> {
        let mut state = self.lock();
        let table = state.table(write.resource, self.capacity);
        let previous = table.get(&write.key).cloned();
        let version = previous.as_ref().map(|object| object.meta.resource_version);
        match (write.expect, version) {
            (Expect::Absent, None) => {}
            (Expect::Version(expected), Some(found)) if expected == found => {}
            _ => return Err(Refused::Outrun(previous)),
        }
        let space = state.space().current;
        let appended =
            state.append(self.capacity, write, previous, self.space - space.min(self.space))?;
        state.forget(self.space / 2);
        Ok(appended)
    }

    /// Fills an empty log with what was persisted.
    pub(crate) fn recover(&self, persisted: Persisted) {
        let mut state = self.lock();
        let Persisted { floor, states, revisions } = persisted;
        (state.head, state.floor) = (floor, floor);
        for (resource, states) in states {
            for (key, object) in states.iter() {
                state.index(&resource, key, None, Some(object));
            }
            state.table(&resource, self.capacity).restore(states, floor);
        }
        for PersistedRevision { resource, key, object } in revisions {
            let previous = state.table(&resource, self.capacity).get(&key).cloned();
            let (version, event) = (object.meta.resource_version, object.event);
            let revision = Arc::new(Revision { version, event, key, previous, object });
            state.push(self.capacity, &Committed { resource, revision });
        }
        state.forget(self.space / 2);
    }

    /// Every change from now on. From now on watches wait until [`Log::mark_durable`] is called.
    pub(crate) fn changes(&self) -> mpsc::UnboundedReceiver<Change> {
        let mut state = self.lock();
        let (persistence, changes) = Persistence::begin(state.head);
        state.persistence = Some(persistence);
        changes
    }

    /// Ends the changes: later ones do not become durable.
    pub(crate) fn end_changes(&self) {
        self.lock().persistence.iter_mut().for_each(Persistence::end);
    }

    /// The number of changes so far, if they are persisted.
    pub(crate) fn change_count(&self) -> u64 {
        self.lock().persistence.as_ref().map_or(0, Persistence::count)
    }

    /// Shows the watches of these resources the revisions up to a version, which are durable.
    pub(crate) fn mark_durable(&self, version: u64, resources: &HashSet<Arc<GroupResource>>) {
        let mut state = self.lock();
        if let Some(persistence) = &mut state.persistence {
            persistence.advance(version);
        }
        for table in resources.iter().filter_map(|resource| state.tables.get(resource)) {
            table.announce(version);
        }
    }

    /// The present states as if they had just been created, then every revision from now on.
    pub(crate) fn follow_states(&self) -> mpsc::UnboundedReceiver<Committed> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut state = self.lock();
        for (resource, table) in &state.tables {
            for (key, object) in table.states().iter().cloned() {
                let (version, event) = (object.meta.resource_version, Event::Added);
                let revision = Arc::new(Revision { version, event, key, previous: None, object });
                // The receiver is here.
                let _ = sender.send(Committed { resource: Arc::clone(resource), revision });
            }
        }
        state.followers.push(sender);
        receiver
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere cannot leave a half-applied revision behind: pushing one is infallible.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
