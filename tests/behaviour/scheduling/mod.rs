//! When parents are reconciled, and in which order.

mod backoff;
mod external;
mod many_children;
mod overlap;
mod pausing;
mod queue;
mod settled;
