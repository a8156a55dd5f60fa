//! Planning: compares the desired children with the existing ones and returns what to do.
//!
//! Layer 3. Nothing here does I/O or reads a clock; a plan is data that others carry out.
//!
//! ```text
//! desired --normalise--> [Desired] --+
//!                                    +--plan--> Plan { steps, last_applied, waiting, doubtful }
//! observed, last_applied -------------------+             |
//!                                                  v  a write answers 409
//!                                      after_conflict, after_delete_conflict
//! ```
//!
//! Invariants:
//! - one refused child refuses the whole response: nothing is written and nothing deleted;
//! - an object that the parent does not own is in a plan only as a create, which the server
//!   refuses;
//! - a child that is up to date causes no step, whatever the server defaulted in it;
//! - neither plans nor refusals show the content of a child in `Debug` or `Display`, only paths.

mod contested;
mod decide;
mod deletion_guard;
mod existing;
mod finalizer;
mod flapping;
mod last_applied;
mod normalise;
mod ownership;
mod refusal;
mod resolve;
mod rewrite;
mod status;
mod steps;
mod terminating;

#[cfg(test)]
mod tests;

pub use contested::{Contested, HeldField, is_ownership_field, without};
pub use decide::{Plan, PlanInput, plan};
pub use deletion_guard::{
    DeletionBudget, DeletionGuard, Exceeded, HeldDeletions, Reservation, Verdict, WantedDeletions,
    judge,
};
pub use finalizer::{add as add_finalizer, remove as remove_finalizer};
pub use flapping::{Calm, Flapping, FlappingReason, FlappingSummary, Subject};
pub use last_applied::{LastApplied, Settled};
pub use ownership::{can_own, differ_in_claim_only, is_ours};
pub use refusal::{Refusal, RefusalReason};
pub use resolve::{
    AfterConflict, AfterDeleteConflict, ForeignChild, after_conflict, after_delete_conflict,
    instead_of_immutable,
};
pub use rewrite::{Rewrite, RewriteReason, rewrites};
pub use status::{
    ChildrenField, StatusInput, StatusPatch, UndeclaredField, WantedBy, is_list_outdated,
    patched_paths, status_patch, status_wish,
};
pub use steps::{ChildId, Deletion, DeletionReason, Step, Waiting, WaitingReason, Write};
pub use terminating::TerminatingChildren;
