//! Conditions that keep a reconcile from writing: the state of the parent, the number of
//! deletions, and which children wait for others.

pub(super) mod as_planned;
pub(super) mod deletion_guard;
pub(super) mod earlier_stages;
pub(super) mod rollout;
pub(super) mod terminating;
