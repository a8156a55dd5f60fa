//! Conditions that keep a reconcile from writing: the state of the parent, the number of
//! deletions, and the order of children.

pub(super) mod as_planned;
pub(super) mod deletion_guard;
pub(super) mod order;
pub(super) mod terminating;
