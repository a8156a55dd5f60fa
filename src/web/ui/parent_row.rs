//! A parent in a table of parents.

use std::time::SystemTime;

use super::{
    links,
    parts::{Mark, Prose},
    time::{Moment, took},
};
use crate::{
    board::{ParentPhase, ParentState},
    object::ObjectKey,
};

pub(super) struct ParentRow {
    pub(super) key: String,
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) href: String,
    pub(super) mark: Mark,
    pub(super) since: Option<Moment>,
    pub(super) why: Prose,
    pub(super) last: Option<(Mark, Moment, String)>,
    pub(super) next: Option<Moment>,
}

impl ParentRow {
    pub(super) fn new(
        operator: &str,
        key: &ObjectKey,
        state: &ParentState,
        now: SystemTime,
    ) -> Self {
        let last = state.history.last();
        Self {
            key: key.to_string(),
            name: key.name.to_string(),
            namespace: key.namespace.as_deref().map(ToOwned::to_owned),
            href: links::parent(operator, key),
            mark: state.phase.into(),
            since: since(state).map(|at| Moment::past(at, now)),
            why: state.message.clone().unwrap_or_default().into(),
            last: last
                .map(|it| ((&it.outcome).into(), Moment::past(it.started, now), took(it.duration))),
            next: state.next_wake.map(|wake| Moment::ahead(wake.at, now)),
        }
    }
}

/// Since when the parent is as it is. A pause began before the last reconcile that found it.
pub(super) fn since(state: &ParentState) -> Option<SystemTime> {
    let paused = state.pause.as_ref().filter(|_| state.phase == ParentPhase::Paused);
    paused.and_then(|pause| pause.since()).or_else(|| state.history.since())
}
