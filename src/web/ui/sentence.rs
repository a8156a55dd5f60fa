//! What is said of a parent in sentences, and since when. Pure.

use std::time::SystemTime;

use crate::{
    board::{OperatorSnapshot, ParentState, RunStage},
    history::History,
    web::why::Facts,
};

/// Where a parent stands, what it is stuck on and what to do. It names no run to come, so that it
/// changes only with its meaning: that is beside it.
pub(super) fn why(
    state: &ParentState,
    operator: &OperatorSnapshot,
    unready: &[String],
    now: SystemTime,
) -> String {
    let run = if state.run == RunStage::Overdue { state.run } else { RunStage::Ahead };
    let parent = &ParentState { next_wake: None, run, ..state.clone() };
    let (paused, places) = (operator.paused.as_ref(), operator.info.config.max_concurrent_runs);
    Facts { state: &operator.state, paused, parent, unready, places, now }.why()
}

/// Since when the runs have come to the same, as far as they are kept.
pub(super) fn since(history: &History) -> Option<SystemTime> {
    let same = history.last()?.outcome.name();
    let runs = history.newest_first().take_while(|run| run.outcome.name() == same);
    runs.last().map(|run| run.started)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::history::{FailureKind, Outcome, Run};

    #[test]
    fn it_has_stood_so_since_the_first_run_of_the_same_kind() {
        let reason = FailureKind::WriteFailed;
        let failed = || Outcome::Failed { reason, message: "y".into() };
        let mut history = History::default();
        for (at, outcome) in [(0, Outcome::Synced), (1, failed()), (2, failed())] {
            let started = SystemTime::UNIX_EPOCH + Duration::from_secs(at);
            history.record(Run::new(started, Duration::ZERO, outcome));
        }
        assert_eq!(since(&history), Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1)));
        assert_eq!(since(&History::default()), None);
    }
}
