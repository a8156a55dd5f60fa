//! Which parents and caches need the attention of the user, for the page and for `mcp`.

use std::time::{Duration, SystemTime};

use k8s_openapi::jiff::Timestamp;

use super::severity::needs_intervention;
use crate::{
    board::{
        Board, OperatorSnapshot, OperatorState, ParentPhase, ParentState, ReconcileStage,
        Selection, TypeSnapshot, Window,
    },
    object::{K8sType, ObjectKey},
};

/// The limit of listed parents of one operator in one phase.
pub(super) const LISTED: usize = 10;
/// A shorter wait needs no attention.
const PATIENCE: Duration = Duration::from_mins(2);

/// Those of an operator in this phase that need attention; `None` if no parent is in it.
pub(super) fn parents(
    board: &Board,
    operator: &OperatorSnapshot,
    phase: ParentPhase,
    now: SystemTime,
    is_shown: impl Fn(&ObjectKey) -> bool,
) -> Option<Selection> {
    operator.parents.get(&phase).filter(|count| **count > 0)?;
    let is_wanted = |key: &ObjectKey, state: &ParentState| {
        (state.phase == phase && matters(state, now) && is_shown(key)).then_some(0)
    };
    board.select(operator.info.name.as_str(), &Window::first(LISTED), is_wanted)
}

/// The caches with problems that the state of no operator names, with the first one in words. An API server that does
/// not answer is one problem.
pub(super) fn uncovered_problems(
    board: &Board,
    operators: &[OperatorSnapshot],
) -> Vec<(TypeSnapshot, String)> {
    if let Some(since) = board.unreachable_since() {
        return board
            .types()
            .into_iter()
            .take(1)
            .map(|cache| (cache, unreachable(since)))
            .collect();
    }
    let problem = |cache: TypeSnapshot| {
        let is_covered = cache.state.error.is_some()
            && operators.iter().any(|operator| covers(operator, cache.store.ty()));
        let problems = problems(&cache);
        let why = problems.first().filter(|_| !is_covered)?;
        let rest = problems.len() - 1;
        let more = if rest == 0 { String::new() } else { format!(" And {rest} more.") };
        Some((cache, format!("{why}{more}")))
    };
    board.types().into_iter().filter_map(problem).collect()
}

fn unreachable(since: SystemTime) -> String {
    let since = Timestamp::try_from(since).unwrap_or_default();
    format!("The API server has not answered since {since:.0}: all caches are from before.")
}

pub(super) fn problems(TypeSnapshot { store, state }: &TypeSnapshot) -> Vec<String> {
    let mut problems = Vec::new();
    if let Some(error) = &state.error {
        let permission =
            error.permission.as_ref().map(|it| format!(" The permission to {it} is missing."));
        problems.push(format!("{}.{}", error.message, permission.unwrap_or_default()));
    }
    for namespace in &state.namespaces {
        if let (Some(namespace), Some(error)) = (&namespace.namespace, &namespace.error) {
            problems.push(format!("In {namespace}: {}.", error.message));
        }
    }
    if state.deletions_held {
        problems.push(
            "The API server returned an earlier resourceVersion: deletions of this type are held for now."
                .to_owned(),
        );
    }
    for object in store.first_undecodable() {
        let name = object.key().map_or_else(|| "An object".to_owned(), ToString::to_string);
        problems.push(format!("{name} cannot be decoded: {}", object.why()));
    }
    problems
}

fn matters(state: &ParentState, now: SystemTime) -> bool {
    match state.phase {
        ParentPhase::Stalled | ParentPhase::Failing | ParentPhase::Synced | ParentPhase::Paused => {
            true
        }
        ParentPhase::Running if state.stage == ReconcileStage::HandlerTimeout => true,
        ParentPhase::Waiting | ParentPhase::Finalizing if needs_intervention(state) => true,
        ParentPhase::Waiting | ParentPhase::Finalizing => {
            let since = state.history.since();
            since.and_then(|since| now.duration_since(since).ok()).is_some_and(|it| it >= PATIENCE)
        }
        // Further reconciles do not resolve it.
        ParentPhase::Ready | ParentPhase::Pending | ParentPhase::Running => {
            needs_intervention(state)
        }
    }
}

/// Whether an operator is degraded and uses this type, so that its reasons may cover the type.
fn covers(operator: &OperatorSnapshot, ty: &K8sType) -> bool {
    let config = &operator.info.config;
    let is_degraded = matches!(operator.state, OperatorState::Degraded { .. });
    is_degraded && (config.parent == *ty || config.child_config(ty).is_some())
}
