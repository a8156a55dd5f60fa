//! What a row of a table shows of a parent, as one process gives it to another.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::{
    board::{ParentPhase, ParentState},
    history::Reconcile,
};

/// A parent, as a row shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Glance {
    pub(super) phase: ParentPhase,
    pub(super) since: Option<SystemTime>,
    pub(super) message: Option<String>,
    pub(super) last: Option<LastReconcile>,
    /// When it is reconciled next without a trigger.
    pub(super) next: Option<SystemTime>,
}

/// Its last reconcile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LastReconcile {
    /// The name of its outcome.
    pub(super) outcome: String,
    pub(super) started: SystemTime,
    pub(super) duration: Duration,
}

impl From<&ParentState> for Glance {
    fn from(state: &ParentState) -> Self {
        Self {
            phase: state.phase,
            since: since(state),
            message: state.message.clone(),
            last: state.history.last().map(|last| LastReconcile::from(&**last)),
            next: state.next_wake.map(|wake| wake.at),
        }
    }
}

impl From<&Reconcile> for LastReconcile {
    fn from(reconcile: &Reconcile) -> Self {
        Self {
            outcome: reconcile.outcome.name().to_owned(),
            started: reconcile.started,
            duration: reconcile.duration,
        }
    }
}

/// Since when the parent is as it is. A pause began before the last reconcile that found it.
pub(super) fn since(state: &ParentState) -> Option<SystemTime> {
    let paused = state.pause.as_ref().filter(|_| state.phase == ParentPhase::Paused);
    paused.and_then(|pause| pause.since()).or_else(|| state.history.since())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{history::Outcome, object::Uid};

    #[test]
    fn a_parent_is_shown_alike_by_each_process() {
        let mut state = ParentState::pending(Uid::new("u"), None);
        state.message = Some("it waits".to_owned());
        let started = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_234_567_891);
        state.history.record(Reconcile::new(started, Duration::from_micros(7), Outcome::Waiting));
        let glance = Glance::from(&state);
        let sent = serde_json::to_string(&glance).unwrap();
        assert_eq!(serde_json::from_str::<Glance>(&sent).unwrap(), glance);
        assert_eq!(glance.since, Some(started));
    }
}
