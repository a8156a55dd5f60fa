//! When does a parent run next?
//!
//! Layer 1. Pure: a state machine that is told what happened and answers what to do. It reads no
//! clock (`now` is an argument) and starts nothing.
//!
//! | phase \ input | `Touched` | `TimerFired` | `Finished` | `Retired` |
//! |---|---|---|---|---|
//! | Idle | `Run` | - | - | `Stop` |
//! | Waiting(resync, recheck) | `Run` | `Run` | - | `Stop` |
//! | Waiting(error) | parent's own change: `Run`; else stay | `Run` | - | `Stop` |
//! | Resting (permanent error) | parent's own change: `Run`; else stay | - | - | `Stop` |
//! | Running | remember | - | remembered: `Run`; else `Wake` or idle; retired: `Stop` | remember |
//!
//! Invariant: at most one run is under way; every fact that arrives meanwhile is seen by the next.

mod backoff;
mod machine;

pub use backoff::Backoff;
pub use machine::{Command, Finished, Input, NextWake, Phase, Schedule, Touch, WakeReason};
