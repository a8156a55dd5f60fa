//! One step of the history. A value.

use std::sync::Arc;

use super::{Event, Object, ObjectKey};

/// One applied write.
#[derive(Debug, Clone)]
pub(crate) struct Revision {
    /// The store's version after the write.
    pub version: u64,
    /// What the write did.
    pub event: Event,
    /// The object that it changed.
    pub key: ObjectKey,
    /// The state before; `None` for a creation.
    pub previous: Option<Arc<Object>>,
    /// The state after; for a deletion the last state, under the version of the deletion.
    pub object: Arc<Object>,
}
