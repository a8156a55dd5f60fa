//! Jobs and cron jobs.
//!
//! ```text
//! job, cron --> spec --> failure_policy, success_policy --> index
//!                 +----> pod::template
//! status (what a job reports) --> index
//! ```
//!
//! **Invariants**: a rule that needs `completions` is only asked where the mode of the job demands them.

mod cron;
mod failure_policy;
mod index;
mod schedule;
mod spec;
pub(super) mod status;
mod success_policy;
mod update;

pub(super) use cron::cron;
pub(super) use spec::job;
pub(super) use update::update;
