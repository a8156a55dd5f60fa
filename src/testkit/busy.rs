//! Which parents have a reconcile in progress, queued or due, and why.

use crate::{
    board::{Board, OperatorState, ParentFilter, ParentPhase, ParentState, ReconcileStage},
    schedule::WakeReason,
};

/// The busy parents, and the operators that have not started.
pub(super) fn busy(board: &Board) -> Vec<String> {
    let mut all = Vec::new();
    for operator in board.operators() {
        let name = operator.name().as_str();
        if let OperatorState::Starting { waiting_for } = &operator.state {
            all.push(format!("operator {name} waits for the list of {}", waiting_for.join(", ")));
        }
        let parents = board.parents(name, &ParentFilter::default(), None, usize::MAX);
        for (key, parent) in parents.into_iter().flat_map(|page| page.items) {
            let known = parent.message.as_deref().map(|text| format!(" ({text})"));
            let known = known.unwrap_or_default();
            all.extend(why(&parent).map(|why| format!("parent {key} of {name} {why}{known}")));
        }
    }
    all
}

/// Why a parent is busy.
fn why(parent: &ParentState) -> Option<&'static str> {
    match parent.stage {
        ReconcileStage::InProgress => return Some("is being reconciled"),
        ReconcileStage::HandlerTimeout => return Some("has a handler that is overdue"),
        ReconcileStage::Queued => return Some("waits for a permit"),
        ReconcileStage::NotDue => {}
    }
    match parent.next_wake.map(|wake| wake.why) {
        Some(WakeReason::Debounce) => Some("collects changes"),
        Some(WakeReason::Unsettled) => Some("wrote children in each of its last reconciles"),
        // It gets a reconciler when that of its predecessor has ended.
        None if parent.phase == ParentPhase::Pending => Some("has not been reconciled"),
        Some(
            WakeReason::Resync
            | WakeReason::Retry
            | WakeReason::Throttled
            | WakeReason::Recheck
            | WakeReason::Slowed
            | WakeReason::Calming,
        )
        | None => None,
    }
}
