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

mod bucket;
mod claim;
mod contested;
mod decide;
mod decoration;
mod deletion_guard;
mod deletion_order;
mod desired;
mod existing;
mod finalizer;
mod finished_jobs;
mod flapping;
mod held_replicas;
mod initial_fields;
mod last_applied;
mod normalise;
mod order;
mod ownership;
mod refusal;
mod resolve;
mod rewrite;
mod rollout;
mod status;
mod steps;
mod terminating;
mod unsynced;

#[cfg(test)]
mod tests;

pub(crate) use bucket::is_labelled as is_in_bucket;
pub(crate) use contested::{Contested, HeldField, is_ownership_field, without};
pub use decide::{Plan, PlanInput, plan};
pub(crate) use decoration::{DecorationWrite, HeldDecoration, status_write};
pub(crate) use deletion_guard::{
    DeletionBudget, DeletionGuard, Exceeded, HeldDeletions, Reservation, Verdict, WantedDeletions,
    judge,
};
pub(crate) use deletion_order::of_all as in_deletion_order;
pub(crate) use desired::Desired;
pub(crate) use finalizer::{add as add_finalizer, remove as remove_finalizer};
pub use finished_jobs::FinishedJobs;
pub(crate) use finished_jobs::{FAILED_JOB, FinishedJob};
pub(crate) use flapping::{Calm, Flapping, FlappingReason, FlappingSummary, Subject};
pub use last_applied::{LastApplied, Settled};
pub(crate) use order::Order;
pub(crate) use ownership::{
    can_own, differ_in_claim_only, is_orphan, is_ours, is_until_finalized, loses_owned_children,
};
pub(crate) use refusal::{Refusal, RefusalReason, ReturnedBy};
pub(crate) use resolve::{
    AfterConflict, AfterDeleteConflict, ForeignChild, after_conflict, after_delete_conflict,
    instead_of_immutable,
};
pub(crate) use rewrite::{Rewrite, RewriteReason, Rewrites, rewrites};
pub(crate) use rollout::{Judgement, NotYet, Rollout, RolloutChild};
pub(crate) use status::{
    Beside, ChildrenField, StatusInput, StatusPatch, UndeclaredField, WantedBy,
    desired_status_hash, is_list_outdated, patched_paths, status_patch,
};
pub(crate) use steps::{ChildId, Deletion, DeletionReason, WaitingChild, WaitingReason};
pub use steps::{Step, Write};
pub(crate) use terminating::TerminatingChildren;
pub use unsynced::Unsynced;
