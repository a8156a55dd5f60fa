//! What the tests and benchmarks of this repository look at beside the public surface. It is no part of that, and
//! changes without notice.

pub mod board {
    //! The read model of the web.
    pub use crate::{
        board::{
            Board, Command, OperatorState, ParentPhase, ParentState, PauseRequest, ReconcileStage,
        },
        testkit::busy::{busy, parents, why_busy},
    };
}

#[cfg(feature = "otlp")]
pub use crate::cli::Traces;

pub mod history {
    //! The last reconciles of a parent.
    pub use crate::history::{Cause, NextWake, Outcome, Verb};
}

pub mod metrics {
    //! What is exported.
    pub use crate::metrics::{MetricDescription, Metrics};
}

pub mod plan {
    //! From desired and observed children to steps.
    pub use crate::plan::{
        FinishedJobs, LastApplied, Plan, PlanInput, Settled, Step, Unsynced, Write, plan,
    };
    pub use crate::reply::Defaults;
}

pub mod schedule {
    //! When a parent is reconciled.
    pub use crate::schedule::{Priority, WakeReason};
}
