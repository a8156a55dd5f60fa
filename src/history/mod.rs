//! The last reconciles of one parent: their causes, decisions, outcomes and step times.
//!
//! Layer 3. Pure: reads no clock and decides nothing, and nothing that decides reads it: losing it costs an
//! explanation, never a write.
//!
//! ```text
//! facts --> Causes --take--+
//!                          +--> Reconcile --record--> History --Arc<Reconcile>--> board, web
//! report ------------------+
//! ```
//!
//! Invariants:
//! - a history is bounded in reconciles, and a reconcile in causes, decisions, paths and lengths of texts; a
//!   child that is up to date takes no space in it;
//! - equal reconciles in a row share their texts, and those without writes are dropped before one with
//!   writes;
//! - numbers of reconciles only grow, also when old reconciles are dropped.

mod cause;
mod decision;
mod failure_kind;
mod kept;
mod next_wake;
mod problem;
mod reconcile;
mod steps;
mod wire;

pub use cause::Cause;
pub(crate) use cause::{Causes, ObjectChange};
pub use decision::Verb;
pub(crate) use decision::{AWAITS_APPROVAL, Decided, Decision, Drift, WriteRecord};
pub(crate) use failure_kind::FailureKind;
pub(crate) use kept::History;
pub use next_wake::NextWake;
pub(crate) use problem::{Action, Problem};
pub use reconcile::Outcome;
pub(crate) use reconcile::Reconcile;
pub(crate) use steps::{Laps, ReconcileStep, StepTimes};
pub(crate) use wire::{Timestamp, time as serialize_time};
