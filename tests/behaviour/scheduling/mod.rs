//! When a parent runs, and who runs first.

mod backoff;
mod many_children;
mod overlap;
mod pausing;
mod queue;
mod resync;
