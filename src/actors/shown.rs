//! How a parent is shown: from its schedule and the reports of its runs to the values of the board.
//! Pure but for the clock of the wall, on which timers are shown.

use std::{
    sync::Arc,
    time::{Instant, SystemTime},
};

use crate::{
    board::{ParentPhase, RunStage},
    execute::Reconciled,
    history::{Cause, History, NextWake, Outcome, Run},
    operator::OperatorConfig,
    run::Memory,
    schedule::{NextWake as Timer, Phase, WakeReason},
};

/// A run, and what is remembered of it. Not before it is judged: what others hold is in there.
pub(super) fn run_of(
    reconciled: Reconciled,
    causes: Vec<Cause>,
    config: &OperatorConfig,
) -> (Run, Memory) {
    let Reconciled { report, memory, started, began: _, took, steps } = reconciled;
    let outcome = report.outcome(config);
    let run = Run {
        causes,
        message: report.unsettled().map(Arc::from),
        decisions: report.decisions.into(),
        steps,
        unchanged: report.unchanged,
        wrote_status: report.wrote_status,
        ..Run::new(started, took, outcome)
    };
    (run, memory)
}

/// The cause that the end of a timer is by itself.
pub(super) fn cause(why: WakeReason) -> Option<Cause> {
    match why {
        WakeReason::Resync => Some(Cause::Resync),
        WakeReason::Retry | WakeReason::Throttled => Some(Cause::Retry),
        WakeReason::Recheck => Some(Cause::Recheck),
        WakeReason::Slowed => Some(Cause::Slowed),
        WakeReason::Calming => Some(Cause::Calming),
        // What changed has been added when it did, and that children were written when they were.
        WakeReason::Debounce | WakeReason::Unsettled => None,
    }
}

/// Where the last run has left the parent.
pub(super) fn shown(
    phase: Phase,
    history: &History,
    is_paused: bool,
    is_leaving: bool,
) -> ParentPhase {
    let last = history.last().map(|run| &run.outcome);
    let failed = matches!(last, Some(Outcome::Failed { .. }));
    match phase {
        // Why nothing is written at all says more than what came of the last run.
        _ if is_paused => ParentPhase::Paused,
        Phase::Resting => ParentPhase::Stalled,
        _ if failed => ParentPhase::Failing,
        _ if is_leaving => ParentPhase::Finalizing,
        // Also without a timer: who holds fields of a child may let go of them at any time.
        _ if matches!(last, Some(Outcome::Waiting)) => ParentPhase::Waiting,
        Phase::Waiting(Timer {
            why: WakeReason::Recheck | WakeReason::Unsettled | WakeReason::Slowed,
            ..
        }) => ParentPhase::Waiting,
        _ => ParentPhase::Synced,
    }
}

/// How far the next run is.
pub(super) fn stage(phase: Phase) -> RunStage {
    match phase {
        Phase::Running { .. } => RunStage::UnderWay,
        Phase::Queued(_) => RunStage::Queued,
        Phase::Waiting(_) | Phase::Idle | Phase::Resting | Phase::Stopped => RunStage::Ahead,
    }
}

/// What there is to say about the last run.
pub(super) fn message(run: &Run) -> Option<String> {
    run.error().or(run.message.as_deref()).map(ToOwned::to_owned)
}

pub(super) fn next_wake(phase: Phase) -> Option<NextWake> {
    let Phase::Waiting(timer) = phase else { return None };
    Some(NextWake::on_the_wall(timer, Instant::now(), SystemTime::now()))
}
