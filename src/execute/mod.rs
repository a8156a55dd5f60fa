//! Performs the effects of a reconcile: requests, handler calls, changes of the caches. The only module that
//! does I/O for a reconcile; [`run`](crate::run) decides.
//!
//! Layer 9. Independent of actors: a reconcile takes a [`Context`] and a [`Job`](crate::run::Job), and
//! returns a [`Reconciled`].
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
//! - a panic in Operetta ends one reconcile only: its memory is lost, which costs a few requests.

mod alive;
mod announce;
mod cache;
mod cache_snapshot;
mod call;
mod clock;
mod context;
mod dependants;
mod drive;
mod event_queue;
mod event_reading;
mod gate;
mod labelling;
mod parent_types;
mod pause;
mod preview;
mod requests;
mod schema;
mod send;
mod timed_out;
mod timed_out_guard;
mod trace;
mod undeclared;
mod undecodable;
mod warn_once;

pub(crate) use alive::{Alive, Gone};
pub(crate) use clock::now;
pub(crate) use context::{Context, ContextParts, Origin, Publish, Show};
pub(crate) use drive::{Reconciled, reconcile_in_a_row};
pub(crate) use gate::{Entry, Gate, Permit, SharedPermits, Ticket};
pub(crate) use parent_types::ParentTypes;
pub(crate) use preview::preview;
pub(crate) use requests::RequestPermits;
pub(crate) use trace::{TARGET as TRACE_TARGET, reconcile as reconcile_span};
pub(crate) use undeclared::Undeclared;

#[cfg(test)]
mod tests;
