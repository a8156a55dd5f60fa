//! What is said of a parent in a sentence. Pure.

use std::time::SystemTime;

use crate::{
    board::{OperatorSnapshot, ParentState, ReconcileStage},
    web::why::Facts,
};

/// Where a parent stands, what it is stuck on and what to do. It names no reconcile to come, so that it
/// changes only with its meaning: that is beside it.
pub(super) fn why(
    state: &ParentState,
    operator: &OperatorSnapshot,
    unready: &[String],
    now: SystemTime,
) -> String {
    let run = if state.run == ReconcileStage::Overdue { state.run } else { ReconcileStage::Ahead };
    let parent = &ParentState { next_wake: None, run, ..state.clone() };
    let (paused, places) =
        (operator.paused.as_ref(), operator.info.config.max_concurrent_reconciles);
    Facts { state: &operator.state, paused, parent, unready, places, now }.why()
}
