//! The order of parents by how much they need somebody. Pure.

use crate::{
    board::{ParentPhase, ParentState, ReconcileStage},
    history::Decided,
};

/// The order: phases that need intervention come first.
pub(super) const PHASES: [ParentPhase; 9] = [
    ParentPhase::Stalled,
    ParentPhase::Failing,
    ParentPhase::Running,
    ParentPhase::Waiting,
    ParentPhase::Synced,
    ParentPhase::Finalizing,
    ParentPhase::Paused,
    ParentPhase::Ready,
    ParentPhase::Pending,
];

/// How severe the state of a parent is; 0 is the worst. Those that are well or about to be are alike, so that their order
/// in a list does not change with each reconcile.
pub(super) fn severity(state: &ParentState) -> u64 {
    let is_calm = match state.phase {
        ParentPhase::Ready | ParentPhase::Pending => !needs_intervention(state),
        ParentPhase::Running => {
            state.stage != ReconcileStage::HandlerTimeout && !needs_intervention(state)
        }
        _ => false,
    };
    let is_it = |phase: &ParentPhase| !is_calm && *phase == state.phase;
    PHASES.iter().position(is_it).unwrap_or(PHASES.len()) as u64
}

/// Whether it requires manual intervention: held deletions, conflicts or flapping.
pub(super) fn needs_intervention(state: &ParentState) -> bool {
    let decisions = state.history.last().map(|it| &*it.decisions).unwrap_or_default();
    let is_held = decisions.iter().any(|it| matches!(it.what, Decided::Held | Decided::Conflict));
    state.flapping_summary.is_some() || is_held
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        object::Uid,
        plan::{FlappingReason, FlappingSummary},
    };

    #[test]
    fn what_needs_somebody_comes_before_what_is_well() {
        let state = |phase| ParentState { phase, ..ParentState::pending(Uid::new("u"), None) };
        let hangs =
            ParentState { stage: ReconcileStage::HandlerTimeout, ..state(ParentPhase::Running) };
        let (why, message) = (FlappingReason::FightingOverFields, "a rival".to_owned());
        let summary = Some(Box::new(FlappingSummary { why, message }));
        let flaps = ParentState { flapping_summary: summary, ..state(ParentPhase::Ready) };
        let order = [
            state(ParentPhase::Stalled),
            state(ParentPhase::Failing),
            hangs,
            state(ParentPhase::Waiting),
            state(ParentPhase::Synced),
            state(ParentPhase::Finalizing),
            state(ParentPhase::Paused),
            flaps,
            state(ParentPhase::Ready),
        ];
        assert!(order.is_sorted_by(|one, next| severity(one) < severity(next)));
        for phase in [ParentPhase::Pending, ParentPhase::Running] {
            assert_eq!(severity(&state(phase)), severity(&state(ParentPhase::Ready)));
        }
    }
}
