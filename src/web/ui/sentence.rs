//! The explanation of a parent on a page. Pure.

use std::time::SystemTime;

use crate::{
    board::{OperatorSnapshot, ParentState, ReconcileStage},
    web::why::Facts,
};

/// The explanation without the next reconcile, which the page shows separately. So the text changes only
/// with its meaning.
pub(super) fn why(state: &ParentState, operator: &OperatorSnapshot, now: SystemTime) -> String {
    let mut parent = ParentState { next_wake: None, ..state.clone() };
    if parent.stage != ReconcileStage::HandlerTimeout {
        parent.stage = ReconcileStage::NotDue;
    }
    let (paused, limit) =
        (operator.paused.as_deref(), operator.info.config.max_concurrent_reconciles);
    Facts { state: &operator.state, paused, parent: &parent, limit, now }.why()
}
