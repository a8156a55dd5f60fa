//! The state of the log: its tables, and what follows from every revision.

use std::{collections::HashMap, sync::Arc};

use serde_json::json;
use tokio::sync::mpsc;

use super::{
    committed::Committed,
    dependents::Dependents,
    durable::{Change, Persistence},
    key::ObjectKey,
    object::{Event, Object, OwnerReference},
    refused::{self, Refused},
    revision::Revision,
    table::{Space, Table},
    write::Write,
};
use crate::group_resource::GroupResource;

/// The state behind the lock of a log.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) head: u64,
    pub(super) floor: u64,
    pub(super) tables: HashMap<Arc<GroupResource>, Table>,
    pub(super) dependents: Dependents,
    pub(super) followers: Vec<mpsc::UnboundedSender<Committed>>,
    pub(super) persistence: Option<Persistence>,
}

impl State {
    /// The newest version that watches may see.
    pub(super) fn visible(&self) -> u64 {
        let durable = self.persistence.as_ref().map(Persistence::durable);
        durable.map_or(self.head, |durable| durable.min(self.head))
    }

    /// Reports a change to the persistence, if there is one.
    pub(super) fn report(&mut self, change: impl FnOnce() -> Change) {
        if let Some(persistence) = &mut self.persistence {
            persistence.report(change());
        }
    }

    pub(super) fn table(&mut self, resource: &Arc<GroupResource>, capacity: usize) -> &mut Table {
        let floor = self.floor;
        self.tables.entry(Arc::clone(resource)).or_insert_with(|| Table::new(floor, capacity))
    }

    pub(super) fn space(&self) -> Space {
        let spaces = self.tables.values().map(Table::space);
        spaces.fold(Space::default(), |sum, one| Space {
            current: sum.current + one.current,
            history: sum.history + one.history,
        })
    }

    /// Forgets the oldest revisions until the history is small enough.
    pub(super) fn forget(&mut self, limit: usize) {
        let mut history = self.space().history;
        while history > limit {
            let tables = self.tables.values_mut().filter(|table| table.oldest().is_some());
            let Some(table) = tables.min_by_key(|table| table.oldest()) else { return };
            let before = table.space().history;
            table.forget_oldest();
            history -= before - table.space().history;
        }
    }

    pub(super) fn append(
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
        let mut object = Object::encode(event, &value, epoch);
        object.meta.share_owners(|owner| self.dependents.share(owner));
        let object = Arc::new(object);
        if !delete {
            refused::admit(&object, previous.as_deref(), room)?;
        }
        let key = self.table(resource, capacity).states().share(key);
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
    pub(super) fn push(&mut self, capacity: usize, Committed { resource, revision }: &Committed) {
        let after = (revision.event != Event::Deleted).then_some(&*revision.object);
        self.index(resource, &revision.key, revision.previous.as_deref(), after);
        self.table(resource, capacity).push(Arc::clone(revision));
        self.head = revision.version;
    }

    pub(super) fn index(
        &mut self,
        resource: &Arc<GroupResource>,
        key: &ObjectKey,
        before: Option<&Object>,
        after: Option<&Object>,
    ) {
        self.dependents.change((resource, key), owners(before), owners(after));
    }
}

fn owners(object: Option<&Object>) -> &[Arc<OwnerReference>] {
    object.map_or(&[], |object| &object.meta.owners)
}
