//! The last runs of one parent: what caused them, what they wrote, what came of them.
//!
//! Layer 3. Pure: it is told what happened and reads no clock. It decides nothing, and nothing
//! that decides reads it: losing it costs an explanation, never a write.
//!
//! ```text
//! facts --> Causes --take--+
//!                          +--> Run --record--> History --Arc<Run>--> board, web
//! report of the run -------+
//! ```
//!
//! Invariants:
//! - a history is bounded in runs, and a run in causes, writes, paths and length of texts;
//! - numbers of runs only grow, also when old runs are dropped.

mod cause;
mod next_wake;
mod run;
mod wire;

pub use cause::{Cause, Causes};
pub use next_wake::NextWake;
pub use run::{Drift, History, Outcome, Run, Verb, WriteRecord};
pub use wire::{Timestamp, time as serialize_time};
