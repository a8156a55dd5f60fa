//! How a parent is shown: from its schedule and the reports of its reconciles to the values of the board.
//! Pure but for the clock of the wall, on which timers are shown.

use std::{
    sync::Arc,
    time::{Instant, SystemTime},
};

use crate::{
    board::{ParentPhase, ReconcileStage},
    execute::Reconciled,
    history::{Cause, History, NextWake, Outcome, Reconcile},
    operator::OperatorConfig,
    run::Memory,
    schedule::{Phase, Wake as Timer, WakeReason},
};

/// A reconcile, and what is remembered of it. Not before it is judged: what others hold is in there.
pub(super) fn run_of(
    reconciled: Reconciled,
    causes: Vec<Cause>,
    config: &OperatorConfig,
) -> (Reconcile, Memory) {
    let Reconciled { report, memory, started, began: _, took, steps } = reconciled;
    let outcome = report.outcome(config);
    let run = Reconcile {
        causes,
        message: report.unsettled().map(Arc::from),
        decisions: report.decisions.into(),
        steps,
        unchanged: report.unchanged,
        wrote_status: report.wrote_status,
        ..Reconcile::new(started, took, outcome)
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

/// Where the last reconcile has left the parent.
pub(super) fn shown(
    phase: Phase,
    history: &History,
    is_paused: bool,
    is_leaving: bool,
) -> ParentPhase {
    let last = history.last().map(|run| &run.outcome);
    let failed = matches!(last, Some(Outcome::Failed { .. }));
    match phase {
        // Why nothing is written at all says more than what came of the last reconcile.
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

/// How far the next reconcile is.
pub(super) fn stage(phase: Phase) -> ReconcileStage {
    match phase {
        Phase::Running { .. } => ReconcileStage::InProgress,
        Phase::Queued(_) => ReconcileStage::Queued,
        Phase::Waiting(_) | Phase::Idle | Phase::Resting | Phase::Stopped => ReconcileStage::NotDue,
    }
}

/// What there is to say about the last reconcile.
pub(super) fn message(run: &Reconcile) -> Option<String> {
    run.error().or(run.message.as_deref()).map(ToOwned::to_owned)
}

pub(super) fn next_wake(phase: Phase) -> Option<NextWake> {
    let Phase::Waiting(timer) = phase else { return None };
    Some(NextWake::in_wall_time(timer, Instant::now(), SystemTime::now()))
}
