//! The state of each child, for the status of its parent.

use super::{Report, shape::is_reported};
use crate::{
    journal::PlannedAs,
    object::Object,
    operator::{ChildState, ChildStatus},
    plan::{ChildId, LastApplied, WaitingReason},
};

/// The state of all children, sorted by name; `None` when the reconcile does not know. `cached` returns a
/// child from the cache.
pub(crate) fn listed(
    report: &Report,
    last_applied: &LastApplied,
    cached: &dyn Fn(&ChildId) -> Option<Object>,
) -> Option<Vec<ChildStatus>> {
    let entry = |planned: &(ChildId, PlannedAs)| {
        let (state, message) = state(report, last_applied, cached, planned)?;
        let ChildId { ty, key } = &planned.0;
        Some(ChildStatus {
            api_version: ty.api_version().to_owned(),
            kind: ty.kind().to_owned(),
            namespace: key.namespace.as_deref().map(str::to_owned),
            name: key.name.to_string(),
            state,
            message,
        })
    };
    report.planned.as_ref().map(|planned| planned.iter().filter_map(entry).collect())
}

/// The state of a child; `None` when it is deleted as desired.
fn state(
    report: &Report,
    last_applied: &LastApplied,
    cached: &dyn Fn(&ChildId) -> Option<Object>,
    (id, planned): &(ChildId, PlannedAs),
) -> Option<(ChildState, Option<String>)> {
    if let Some((state, why)) = report.states.get(id) {
        return Some((*state, Some(why.clone()).filter(|why| !why.is_empty())));
    }
    if let Some(contested) = last_applied.contested_of(id) {
        let is_conflict = is_reported(contested.policy);
        let state = if is_conflict { ChildState::Conflict } else { ChildState::Held };
        return Some((state, Some(contested.why().to_string())));
    }
    let is_settled = match planned {
        PlannedAs::UpToDate => true,
        PlannedAs::Wanted => last_applied.is_known(id),
        PlannedAs::Undesired => false,
    };
    match cached(id) {
        _ if is_settled => Some((ChildState::Synced, None)),
        Some(child) if child.is_deleting() => {
            // As the next reconcile will report.
            Some((ChildState::Terminating, Some(WaitingReason::deleting(&child).to_string())))
        }
        None if *planned == PlannedAs::Undesired => None,
        Some(_) | None => Some((ChildState::Pending, None)),
    }
}
