//! One reconcile as a state machine without I/O: it processes events and returns effects.
//!
//! Layer 6. The machine never awaits, logs, counts or reads a clock. It reads only a [`Snapshot`], the state of one
//! moment that is taken before each step.
//!
//! ```text
//! Event, Snapshot, Now --> Machine::step --> Effects          (execute performs them)
//!                              |
//!  machine: the table          stage x event
//!                              |
//!  observing --> handling --> planning --> writing --> reporting     steps, each returns the next stage
//!  `-> finalizing, decorating, previewing
//!                              |
//!        modules: child, parent, guard, drift --> Turn: next step, facts, changes of the caches
//!                              |
//!                      Journal, Memory                        learn only from facts
//! ```
//!
//! Invariants:
//! - a parent with a deletionTimestamp is never synced: no child is created or changed;
//! - a handler that failed, or whose response is refused, leads to no write and no deletion of a child;
//! - while the parent or the operator is paused no child is written or deleted and no finalizer changes;
//! - a reconcile that wrote children leaves the status to the next reconcile, except after failures and for
//!   the third in a row;
//! - the modules never call each other, and read only their `View`.

mod cache_snapshot;
mod child;
mod decorating;
mod drift;
mod effect;
mod finalizing;
mod guard;
mod handling;
mod machine;
mod memory;
mod module_view;
mod observing;
mod parent;
mod planning;
mod previewing;
mod reconcile;
mod redacting;
mod related;
mod reporting;
mod request;
mod settings;
mod sibling;
mod stage;
mod turn;
mod writing;

#[cfg(test)]
mod tests;

pub(crate) use cache_snapshot::{Doubts, Now, Schemas, Snapshot};
pub(crate) use effect::{
    Aim, Cache, Effect, Event, HandlerError, Method, Previewed, RequestId, Response,
};
pub(crate) use machine::Machine;
pub(crate) use memory::Memory;
pub(crate) use reconcile::{Ended, Job};
pub(crate) use request::{Answer, DryRun, Force, Reply, Request, Whole};
pub(crate) use settings::Settings;
pub(crate) use sibling::Sibling;
#[cfg(test)]
pub(crate) use turn::StopReason;
