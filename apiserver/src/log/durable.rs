//! What persistence needs of the log: every change in order, and the form of what was persisted.
//!
//! No I/O happens here.

use std::{collections::HashMap, sync::Arc};

use tokio::sync::mpsc;

use super::{Backup, Committed, Object, ObjectKey, states::States};
use crate::group_resource::GroupResource;

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

impl Persistence {
    /// Begins with a log whose newest version is this, and with the receiver of its changes.
    pub(super) fn begin(head: u64) -> (Self, mpsc::UnboundedReceiver<Change>) {
        let (changes, receiver) = mpsc::unbounded_channel();
        (Self { changes: Some(changes), count: 0, durable: head }, receiver)
    }

    /// Adds a change.
    pub(super) fn report(&mut self, change: Change) {
        self.count += 1;
        if let Some(changes) = &self.changes {
            // After a failed write nothing receives any more, and every request is refused.
            let _ = changes.send(change);
        }
    }

    /// The number of changes so far.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The newest durable version.
    pub(super) fn durable(&self) -> u64 {
        self.durable
    }

    /// Everything up to this version is durable.
    pub(super) fn advance(&mut self, version: u64) {
        self.durable = version;
    }

    /// Ends: later changes do not become durable.
    pub(super) fn end(&mut self) {
        self.changes = None;
    }
}
