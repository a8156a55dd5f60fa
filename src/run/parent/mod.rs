//! The writes of the parent itself: its finalizers and its status.

pub(super) mod collect;
pub(super) mod finalizer;
pub(super) mod status;
