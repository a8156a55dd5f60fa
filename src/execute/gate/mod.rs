//! The concurrency limits of reconciles: the permits of one operator, and the permits that all operators of a
//! process share.

mod permits;
mod shared_permits;

pub(crate) use permits::{Entry, Gate, Permit, Ticket};
pub(crate) use shared_permits::SharedPermits;

#[cfg(test)]
mod tests;
