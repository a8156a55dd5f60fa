//! Handlers that show their own errors in the status: validation, children and status apart.
//!
//! ```text
//! validate --ok--> sync_children --ok--> SyncSuccess ------+
//!    | error            | error                            |
//!    v                  v                                  v
//! ValidationFailed   SyncFailed ------------------> determine_status --> status
//! finalize --> FinalizeSuccess | FinalizeFailed ----------^
//! ```
//!
//! Invariants:
//! - an error never deletes a child: the reconcile fails, and a failed reconcile changes none;
//! - a failed `finalize` is tried again for ever, so that what it cleans up is not left behind;
//! - nothing is remembered between calls: how often a parent has failed comes with the request.

mod adapter;
mod backoff;
mod handler;
mod outcome;

pub use adapter::DefaultFailableHandler;
pub use backoff::BackoffConfig;
pub use handler::FailableHandler;
pub use outcome::HandlerResult;
