//! Conditions that keep a reconcile from writing: the state of the parent, and the number of deletions.

pub(super) mod as_planned;
pub(super) mod deletion_guard;
pub(super) mod terminating;
