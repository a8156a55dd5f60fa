//! The writes of the parent itself: its finalizers and its status; and whether it is ready.

pub(super) mod collect;
pub(super) mod finalizer;
pub(super) mod foreseen;
pub(super) mod readiness;
pub(super) mod status;
