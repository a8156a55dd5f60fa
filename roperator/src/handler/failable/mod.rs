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
//! - an error never deletes a child: the reconcile fails, and a failed reconcile changes no child;
//! - a failed `finalize` is retried for ever, so that nothing is left behind;
//! - [`DefaultFailableHandler`] keeps no state between calls: Operetta counts the failures.

mod adapter;
mod backoff;
mod error_backoff;
mod outcome;
mod parts;

pub use adapter::DefaultFailableHandler;
pub use backoff::BackoffConfig;
pub use error_backoff::ErrorBackoff;
pub use outcome::HandlerResult;
pub use parts::FailableHandler;
