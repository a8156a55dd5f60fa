//! Which parents have a reconcile in progress, queued or due, and why.

use std::time::SystemTime;

use crate::{
    board::{Board, OperatorState, ParentFilter, ParentPhase, ParentState, ReconcileStage},
    object::ObjectKey,
    schedule::WakeReason,
};

/// The busy parents, and the operators that have not started.
pub fn busy(board: &Board, now: SystemTime) -> Vec<String> {
    let mut all = Vec::new();
    for operator in board.operators() {
        let name = operator.name().as_str();
        if let OperatorState::Starting { waiting_for } = &operator.state {
            all.push(format!("operator {name} waits for the list of {}", waiting_for.join(", ")));
        }
        for (key, parent) in parents(board, name) {
            let known = parent.message.as_deref().map(|text| format!(" ({text})"));
            let known = known.unwrap_or_default();
            all.extend(
                why_busy(&parent, now).map(|why| format!("parent {key} of {name} {why}{known}")),
            );
        }
    }
    all
}

/// When the first of all parents is reconciled without a change.
pub(super) fn next_wake(board: &Board) -> Option<SystemTime> {
    let operators = board.operators();
    let parents = operators.iter().flat_map(|operator| parents(board, operator.name().as_str()));
    parents.filter_map(|(_, parent)| parent.next_wake).map(|wake| wake.at).min()
}

/// The parents of an operator.
pub fn parents(board: &Board, operator: &str) -> Vec<(ObjectKey, ParentState)> {
    let page = board.parents(operator, &ParentFilter::default(), None, usize::MAX);
    page.map(|page| page.items).unwrap_or_default()
}

/// Why a parent is busy; `None` if nothing is left to do for it.
pub fn why_busy(parent: &ParentState, now: SystemTime) -> Option<&'static str> {
    match parent.stage {
        ReconcileStage::InProgress => return Some("is being reconciled"),
        ReconcileStage::HandlerTimeout => return Some("has a handler that is overdue"),
        ReconcileStage::Queued => return Some("waits for a permit"),
        ReconcileStage::NotDue => {}
    }
    let wake = parent.next_wake.as_ref();
    match wake.map(|wake| wake.why) {
        Some(WakeReason::Debounce) => Some("collects changes"),
        Some(WakeReason::Spread) => Some("waits for its turn after a change of a related object"),
        Some(WakeReason::Unsettled) => Some("wrote children in each of its last reconciles"),
        // It gets a reconciler when that of its predecessor has ended.
        None if parent.phase == ParentPhase::Pending => Some("has not been reconciled"),
        Some(
            WakeReason::Resync
            | WakeReason::Retry
            | WakeReason::Throttled
            | WakeReason::Recheck
            | WakeReason::Slowed
            | WakeReason::Calming
            | WakeReason::PauseEnds,
        )
        | None => wake.filter(|wake| wake.at <= now).map(|_| "is due"),
    }
}
