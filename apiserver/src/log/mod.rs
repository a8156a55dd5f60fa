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

mod durable;
mod key;
mod object;
mod part;
mod refused;
mod revision;
mod table;

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use self::{
    durable::Persistence,
    table::{Space, Table},
};
pub(crate) use self::{
    durable::{Change, Persisted, PersistedRevision},
    key::{ObjectKey, Scope},
    object::{Event, Meta, Object, OwnerReference},
    part::{Found, Part, States},
    refused::Refused,
    revision::Revision,
    table::Compacted,
};
use crate::resource::GroupResource;

/// The precondition of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    /// There is no object.
    Absent,
    /// The object has this version.
    Version(u64),
}

/// One write.
#[derive(Debug)]
pub(crate) struct Write<'a> {
    /// The resource.
    pub resource: &'a Arc<GroupResource>,
    /// The object's name.
    pub key: ObjectKey,
    /// Compared before the write.
    pub expect: Expect,
    /// Whether the write deletes the object; `value` is then its last state.
    pub delete: bool,
    /// The object; its `resourceVersion` is set by the log.
    pub value: Value,
    /// See [`Object::epoch`].
    pub epoch: u64,
}

/// A revision with the resource it belongs to, for readers of the whole log.
#[derive(Debug, Clone)]
pub(crate) struct Committed {
    /// The resource.
    pub resource: Arc<GroupResource>,
    /// What happened.
    pub revision: Arc<Revision>,
}

/// All objects at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Backup {
    /// The version that they are at.
    pub head: u64,
    /// By resource.
    pub tables: HashMap<Arc<GroupResource>, States>,
    dependents: Dependents,
}

/// The dependents by the uid of an owner.
type Dependents = HashMap<Box<str>, BTreeSet<(Arc<GroupResource>, ObjectKey)>>;

/// The store. Every method is one short critical section.
#[derive(Debug)]
pub(crate) struct Log {
    state: Mutex<State>,
    capacity: usize,
    space: usize,
}

#[derive(Debug, Default)]
struct State {
    head: u64,
    floor: u64,
    tables: HashMap<Arc<GroupResource>, Table>,
    dependents: Dependents,
    followers: Vec<mpsc::UnboundedSender<Committed>>,
    persistence: Option<Persistence>,
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

    /// A part of the newest states.
    pub(crate) fn part(&self, resource: &GroupResource, part: Part<'_>) -> Found {
        let state = self.lock();
        let nothing = || Found::nothing(state.head);
        state.tables.get(resource).map_or_else(nothing, |table| table.part(state.head, part))
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
        self.lock().dependents.get(uid).into_iter().flatten().cloned().collect()
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
        let tables = state.tables.iter().map(|(ty, table)| (Arc::clone(ty), table.states()));
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

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere cannot leave a half-applied revision behind: pushing one is infallible.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn table(&mut self, resource: &Arc<GroupResource>, capacity: usize) -> &mut Table {
        let floor = self.floor;
        self.tables.entry(Arc::clone(resource)).or_insert_with(|| Table::new(floor, capacity))
    }

    fn space(&self) -> Space {
        let spaces = self.tables.values().map(Table::space);
        spaces.fold(Space::default(), |sum, one| Space {
            current: sum.current + one.current,
            history: sum.history + one.history,
        })
    }

    /// Forgets the oldest revisions until the history is small enough.
    fn forget(&mut self, limit: usize) {
        let mut history = self.space().history;
        while history > limit {
            let tables = self.tables.values_mut().filter(|table| table.oldest().is_some());
            let Some(table) = tables.min_by_key(|table| table.oldest()) else { return };
            let before = table.space().history;
            table.forget_oldest();
            history -= before - table.space().history;
        }
    }

    fn append(
        &mut self,
        capacity: usize,
        write: Write<'_>,
        previous: Option<Arc<Object>>,
        room: usize,
    ) -> Result<Arc<Object>, Refused> {
        let Write { resource, key, expect: _, delete, mut value, epoch } = write;
        let event = match (&previous, delete) {
            (_, true) => Event::Deleted,
            (None, false) => Event::Added,
            (Some(_), false) => Event::Modified,
        };
        let version = self.head + 1;
        value["metadata"]["resourceVersion"] = json!(version.to_string());
        let object = Arc::new(Object::encode(event, value, epoch));
        if !delete {
            refused::admit(&object, previous.as_deref(), room)?;
        }
        let revision = Revision { version, event, key, previous, object: Arc::clone(&object) };
        let committed = Committed { resource: Arc::clone(resource), revision: Arc::new(revision) };
        self.push(capacity, &committed);
        if self.persistence.is_none() {
            self.table(resource, capacity).announce(version);
        }
        self.report(|| Change::Committed(committed.clone()));
        self.followers.retain(|follower| follower.send(committed.clone()).is_ok());
        Ok(object)
    }

    /// Makes a revision the newest.
    fn push(&mut self, capacity: usize, Committed { resource, revision }: &Committed) {
        let after = (revision.event != Event::Deleted).then_some(&*revision.object);
        self.index(resource, &revision.key, revision.previous.as_deref(), after);
        self.table(resource, capacity).push(Arc::clone(revision));
        self.head = revision.version;
    }

    fn index(
        &mut self,
        resource: &Arc<GroupResource>,
        key: &ObjectKey,
        before: Option<&Object>,
        after: Option<&Object>,
    ) {
        let owners = |object: Option<&Object>| -> BTreeSet<Box<str>> {
            object.into_iter().flat_map(|o| o.meta.owners.iter()).map(|o| o.uid.clone()).collect()
        };
        let (before, after) = (owners(before), owners(after));
        let entry = (Arc::clone(resource), key.clone());
        for uid in before.difference(&after) {
            if let Some(dependents) = self.dependents.get_mut(uid) {
                dependents.remove(&entry);
                if dependents.is_empty() {
                    self.dependents.remove(uid);
                }
            }
        }
        for uid in after.difference(&before) {
            self.dependents.entry(uid.clone()).or_default().insert(entry.clone());
        }
    }
}

#[cfg(test)]
mod tests;
