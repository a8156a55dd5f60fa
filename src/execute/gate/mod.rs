//! Who may reconcile now: the places of one operator, and those that all operators of a process share.

mod admission;
mod common_places;

pub use admission::{Entry, Gate, Permit, Ticket, Waiter};
pub use common_places::CommonPlaces;

#[cfg(test)]
mod tests;
