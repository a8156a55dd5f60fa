//! Translates the schedule and the reports of reconciles into the values of the board. Pure except for
//! the clock, which converts timers to times of day.

use std::{sync::Arc, time::SystemTime};

use crate::{
    board::{ParentPhase, ReconcileStage},
    execute::{Reconciled, now},
    history::{Cause, History, NextWake, Outcome, Reconcile},
    operator::{OperatorConfig, Pause},
    report::is_stalled,
    run::{Memory, Now},
    schedule::{Phase, Wake as Timer, WakeReason},
};

/// The history entry of a reconcile, and its memory. Must be called after `finished`, which needs the
/// report.
pub(super) fn history_entry(
    reconciled: Reconciled,
    causes: Vec<Cause>,
    config: &OperatorConfig,
) -> (Reconcile, Memory) {
    let Reconciled { report, memory, started, began: _, took, steps, pause_ends_in: _ } =
        reconciled;
    let (outcome, is_stalled) = (report.outcome(config), is_stalled(&report));
    let reconcile = Reconcile {
        causes,
        message: report.unsettled().map(Arc::from),
        paused: report.pause.as_ref().map(|pause| pause.to_string().into()),
        decisions: report.decisions.into(),
        problems: report.problems.into(),
        steps,
        unchanged: report.unchanged,
        wrote_status: report.wrote_status,
        is_stalled,
        ..Reconcile::new(started, took, outcome)
    };
    (reconcile, memory)
}

/// The cause that a timer adds.
pub(super) fn cause(why: WakeReason) -> Option<Cause> {
    match why {
        WakeReason::Resync => Some(Cause::Resync),
        WakeReason::Retry | WakeReason::Throttled => Some(Cause::Retry),
        WakeReason::Recheck => Some(Cause::Recheck),
        WakeReason::Slowed => Some(Cause::Slowed),
        WakeReason::Calming => Some(Cause::Calming),
        WakeReason::PauseEnds => Some(Cause::PauseEnded),
        // Changes and own writes were added as causes when they happened.
        WakeReason::Debounce | WakeReason::Spread | WakeReason::Unsettled => None,
    }
}

pub(super) fn shown(
    phase: Phase,
    history: &History,
    is_paused: bool,
    is_leaving: bool,
) -> ParentPhase {
    let last = history.last().map(|reconcile| &reconcile.outcome);
    let failed = matches!(last, Some(Outcome::Failed { .. }));
    match phase {
        // A pause explains more than the outcome of the last reconcile.
        _ if is_paused => ParentPhase::Paused,
        Phase::Resting => ParentPhase::Stalled,
        _ if history.last().is_some_and(|last| last.is_stalled) => ParentPhase::Stalled,
        _ if failed => ParentPhase::Failing,
        _ if is_leaving => ParentPhase::Finalizing,
        // Also without a timer: another field manager may release fields of a child at any time.
        _ if matches!(last, Some(Outcome::Waiting)) => ParentPhase::Waiting,
        Phase::Waiting(Timer {
            why: WakeReason::Recheck | WakeReason::Unsettled | WakeReason::Slowed,
            ..
        }) => ParentPhase::Waiting,
        _ => match last {
            Some(Outcome::Ready) => ParentPhase::Ready,
            Some(Outcome::Synced) => ParentPhase::Synced,
            _ => ParentPhase::Pending,
        },
    }
}

pub(super) fn stage(phase: Phase) -> ReconcileStage {
    match phase {
        Phase::Running { .. } => ReconcileStage::InProgress,
        Phase::Queued(_) => ReconcileStage::Queued,
        Phase::Waiting(_) | Phase::Idle | Phase::Resting | Phase::Stopped => ReconcileStage::NotDue,
    }
}

pub(super) fn message(reconcile: &Reconcile) -> Option<String> {
    reconcile.error().or(reconcile.message.as_deref()).map(ToOwned::to_owned)
}

pub(super) fn next_wake(timer: Option<Timer>) -> Option<NextWake> {
    let Now { monotonic, wall } = now();
    timer.map(|timer| NextWake::in_wall_time(timer, monotonic, wall))
}

/// What is known of the pause of a parent, with since when: at the latest since it was known.
pub(super) fn known_pause(
    reported: Option<&Pause>,
    known: Option<&Pause>,
    shown_since: Option<SystemTime>,
) -> Arc<Pause> {
    let now = now().wall;
    let pause = reported.cloned().unwrap_or_default();
    let since = pause.since.filter(|since| *since <= now);
    let since = since.or(shown_since).or_else(|| known?.since);
    Arc::new(Pause { since: since.or(Some(now)), ..pause })
}
