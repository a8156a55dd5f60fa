//! When parents are reconciled, and in which order.

mod backoff;
mod many_children;
mod overlap;
mod pausing;
mod queue;
mod settled;
