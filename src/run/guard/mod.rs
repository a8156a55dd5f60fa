//! What may keep a reconcile from writing: the state of the parent, and how much it would delete.

pub(super) mod as_planned;
pub(super) mod deletion_guard;
pub(super) mod terminating;
