//! The last runs of one parent: what caused them, what they decided about each child, what came
//! of them, and how long each step took.
//!
//! Layer 3. Pure: it is told what happened and reads no clock. It decides nothing, and nothing
//! that decides reads it: losing it costs an explanation, never a write.
//!
//! ```text
//! facts --> Causes --take--+
//!                          +--> Reconcile --record--> History --Arc<Reconcile>--> board, web
//! report of the reconcile -------+
//! ```
//!
//! Invariants:
//! - a history is bounded in reconciles, and a reconcile in causes, decisions, paths and length of texts; a child that is as
//!   desired takes no room in it;
//! - runs in a row that say the same keep it once, and those that wrote nothing go before one that did;
//! - numbers of reconciles only grow, also when old runs are dropped.

mod cause;
mod decision;
mod failure_kind;
mod kept;
mod next_wake;
mod reconcile;
mod steps;
mod wire;

pub use cause::{Cause, Causes, ChildChange};
pub use decision::{Decided, Decision, Drift, Verb, WriteRecord};
pub use failure_kind::FailureKind;
pub use kept::History;
pub use next_wake::NextWake;
pub use reconcile::{Outcome, Reconcile};
pub use steps::{ReconcileStep, StepTimes};
pub use wire::{Timestamp, time as serialize_time};
