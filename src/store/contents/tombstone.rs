//! What is left of a deleted object.

use crate::object::{ObjectKey, ResourceVersion};

/// A deleted object. Late events of it are ignored.
#[derive(Debug)]
pub(super) struct Tombstone {
    pub(super) key: ObjectKey,
    /// Its last known version: an earlier event may show that it left the selector, and the next
    /// one that it is back.
    pub(super) version: ResourceVersion,
    /// The clock when the deletion was received.
    pub(super) created: u64,
}
