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

mod builtin;
mod collision;
mod contained;
mod contested;
mod decide;
mod deletion_guard;
mod difference;
mod differences;
mod existing;
mod fields;
mod finalizer;
mod fingerprint;
mod flapping;
mod hash;
mod last_applied;
mod normalise;
mod nulls;
mod owned;
mod ownership;
mod path;
mod quantity;
mod refusal;
mod resolve;
mod rewrite;
mod rival;
mod status;
mod steps;
mod takeover;
mod terminating;

#[cfg(test)]
mod tests;

pub use collision::{Collision, collision};
pub use contained::Difference;
pub use contested::{Contested, HeldField, is_ownership_field, without};
pub use decide::{Plan, PlanInput, plan};
pub use deletion_guard::{
    DeletionBudget, DeletionGuard, Exceeded, HeldDeletions, Reservation, Verdict, WantedDeletions,
    judge,
};
pub use difference::compare;
pub use finalizer::{add as add_finalizer, remove as remove_finalizer};
pub use fingerprint::{are_alike, differ_in_status_only, same_owned_fields};
pub use flapping::{Calm, Flapping, FlappingReason, FlappingSummary, Subject};
pub use last_applied::{LastApplied, Settled};
pub use ownership::{can_own, differ_in_claim_only, is_ours};
pub use refusal::{Refusal, RefusalReason};
pub use resolve::{
    AfterConflict, AfterDeleteConflict, ForeignChild, after_conflict, after_delete_conflict,
    instead_of_immutable,
};
pub use rewrite::{Rewrite, RewriteReason, rewrites};
pub use rival::rival;
pub use status::{
    ChildrenField, StatusInput, StatusPatch, UndeclaredField, WantedBy, is_list_outdated,
    patched_paths, status_patch, status_wish,
};
pub use steps::{ChildId, Deletion, DeletionReason, Step, Waiting, WaitingReason, Write};
pub use takeover::{adoption, has_predecessor, is_handed_over, takeover};
pub use terminating::TerminatingChildren;
