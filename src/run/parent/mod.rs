//! What is written on the parent itself: its finalizers, its status, and what a decorator adds. Beside that:
//! whether it is ready, and the children that Kubernetes does not collect.

pub(super) mod collect;
pub(super) mod decoration;
pub(super) mod finalizer;
pub(super) mod foreseen;
pub(super) mod readiness;
pub(super) mod status;
mod time;
