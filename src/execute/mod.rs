//! Carries out what a reconcile orders: requests, calls of the handler, changes of the caches. The only room
//! that does I/O for a reconcile; what is to be done is decided by [`run`](crate::run).
//!
//! Layer 9. Knows no actor: what a reconcile needs comes in as a [`Context`] and a [`Job`](crate::run::Job), what came
//! of it goes out as a [`Reconciled`].
//!
//! ```text
//!             +--------- Effects ----------+
//!             |                            v
//!       run::Machine                  [perform] --> API server, handler, caches
//!             ^                            |
//!             +--- Event, fresh Snapshot --+
//!             |
//!          Ended --> report: status, Events, history; metrics
//! ```
//!
//! Invariants:
//! - a snapshot is taken before each step, and effects are performed directly after it, in their order;
//! - a panic of ours ends a reconcile, and no more: its memory is lost, which costs a few requests.

mod announce;
mod cache;
mod call;
mod context;
mod drive;
mod event_queue;
mod event_reading;
mod gate;
mod hanging;
mod look;
mod overdue;
mod pause;
mod preview;
mod requests;
mod schema;
mod send;
mod undeclared;
mod undecodable;
mod warn_once;

pub(crate) use call::panic_text;
pub use context::{Context, ContextParts, Origin, Publish, Show};
pub use drive::{Reconciled, run_on};
pub use gate::{Entry, Gate, Permit, SharedPermits, Ticket, Waiter};
pub use preview::preview;
pub use requests::RequestPermits;
pub use undeclared::Undeclared;

#[cfg(test)]
mod tests;
