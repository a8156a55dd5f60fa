//! Why a parent stands where it stands, in a sentence. Pure.

use std::time::SystemTime;

use crate::{
    board::{OperatorSnapshot, OperatorState, ParentPhase, ParentState},
    history::{History, Outcome, Run},
    operator::PAUSED_ANNOTATION,
    schedule::WakeReason,
};

/// Why a parent stands where it stands. It names no time, so that it changes only with its meaning.
pub(super) fn why(state: &ParentState, operator: &OperatorSnapshot) -> String {
    let because = |text: &str| match &state.message {
        Some(message) => format!("{text}: {}", ended(message)),
        None => format!("{text}."),
    };
    match state.phase {
        ParentPhase::Pending => pending(state, operator),
        ParentPhase::Running => match &state.message {
            Some(message) if state.failures == 0 => {
                format!("A run is under way. {}", ended(message))
            }
            Some(_) | None => "A run is under way.".to_owned(),
        },
        ParentPhase::Synced => synced(state),
        ParentPhase::Waiting => because("It waits"),
        ParentPhase::Failing => format!("{}{}", because(&failed(state)), repeated(state.failures)),
        ParentPhase::Stalled => {
            format!("{} It rests until it is changed.", because(&failed(state)))
        }
        ParentPhase::Finalizing => because("It is being cleaned up before it goes"),
        ParentPhase::Paused => because(&format!(
            "A person has paused it ({PAUSED_ANNOTATION}), so none of its children is written or deleted"
        )),
    }
}

/// What a timer is for.
pub(super) fn next_run(why: WakeReason) -> &'static str {
    match why {
        WakeReason::Resync => "because the handler asked for it",
        WakeReason::Retry => "to try again",
        WakeReason::Throttled => "when the API server allows it",
        WakeReason::Recheck => "to look again, if nothing happens before",
        WakeReason::Slowed => {
            "because what is changed back again and again is repaired ever more slowly"
        }
        WakeReason::Calming => "to see whether the fight over its children has ended",
        WakeReason::Debounce(_) => "when the changes that are being collected have ended",
    }
}

/// Since when the runs have come to the same, as far as they are kept.
pub(super) fn since(history: &History) -> Option<SystemTime> {
    let same = history.last()?.outcome.name();
    let runs = history.newest_first().take_while(|run| run.outcome.name() == same);
    runs.last().map(|run| run.started)
}

fn pending(state: &ParentState, operator: &OperatorSnapshot) -> String {
    let OperatorSnapshot { info, state: stands, .. } = operator;
    if let OperatorState::Starting { waiting_for }
    | OperatorState::Degraded { reasons: waiting_for } = stands
        && !waiting_for.is_empty()
    {
        let reasons = waiting_for.join("; ");
        return format!("{} is {}: {}", info.name, stands.name(), ended(&reasons));
    }
    let run = if state.history.last().is_some() { "next" } else { "first" };
    let limit = info.config.max_concurrent_runs;
    format!("It waits for its {run} run: {} works on at most {limit} parents at once.", info.name)
}

fn synced(state: &ParentState) -> String {
    match (state.history.last().map(|run| run.unchanged), &state.message) {
        (_, Some(message)) => format!("All is as desired, but: {}", ended(message)),
        (Some(0), None) => "All is as desired. It has no children.".to_owned(),
        (Some(1), None) => "All is as desired: its one child, and its status.".to_owned(),
        (Some(count), None) => format!("All is as desired: its {count} children, and its status."),
        (None, None) => "All is as desired.".to_owned(),
    }
}

fn failed(state: &ParentState) -> String {
    match state.history.last().map(|run| (&run.outcome, reason(run))) {
        Some((Outcome::Failed { .. }, Some(reason))) => format!("The last run failed ({reason})"),
        _ => "The last run failed".to_owned(),
    }
}

fn reason(run: &Run) -> Option<&str> {
    match &run.outcome {
        Outcome::Failed { reason, .. } => Some(reason),
        _ => None,
    }
}

fn repeated(failures: u32) -> String {
    if failures < 2 { String::new() } else { format!(" It has failed {failures} times in a row.") }
}

/// With a full stop, unless it ends already.
fn ended(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use super::*;
    use crate::{
        board::OperatorInfo,
        object::{K8sType, Uid},
        operator::OperatorConfig,
    };

    fn operator(state: OperatorState) -> OperatorSnapshot {
        let config = OperatorConfig::new("op", K8sType::namespaced("v1", "Pod", "pods"));
        let name = config.operator_name().unwrap();
        let info = OperatorInfo { name, config, has_finalizer: false };
        let board = crate::board::Board::new();
        board.register(info);
        let snapshot = board.operator("op").unwrap();
        OperatorSnapshot { state, parents: BTreeMap::new(), ..snapshot }
    }

    fn parent(phase: ParentPhase, outcomes: &[Outcome], message: Option<&str>) -> ParentState {
        let mut state = ParentState::pending(Uid::new("u"), None);
        for (at, outcome) in outcomes.iter().enumerate() {
            let started = SystemTime::UNIX_EPOCH + Duration::from_secs(at as u64);
            state.history.record(Run::new(started, Duration::ZERO, outcome.clone()));
        }
        ParentState { phase, message: message.map(ToOwned::to_owned), ..state }
    }

    fn boom() -> Outcome {
        Outcome::Failed { reason: "HandlerFailed".to_owned(), message: "no such image".to_owned() }
    }

    #[test]
    fn one_sentence_says_why_a_parent_stands_where_it_stands() {
        use OperatorState::{Running, Starting};
        let waiting_for = vec!["pods".to_owned()];
        for (state, stands, expected) in [
            (
                parent(ParentPhase::Pending, &[], None),
                Starting { waiting_for },
                "op is starting: pods.",
            ),
            (
                parent(ParentPhase::Pending, &[], None),
                Running,
                "It waits for its first run: op works on at most 16 parents at once.",
            ),
            (
                parent(ParentPhase::Failing, &[boom()], Some("no such image")),
                Running,
                "The last run failed (HandlerFailed): no such image.",
            ),
            (
                parent(ParentPhase::Stalled, &[boom()], Some("no!")),
                Running,
                "The last run failed (HandlerFailed): no! It rests until it is changed.",
            ),
            (
                parent(ParentPhase::Waiting, &[Outcome::Waiting], Some("Pod a goes")),
                Running,
                "It waits: Pod a goes.",
            ),
            (
                parent(ParentPhase::Synced, &[Outcome::Synced], None),
                Running,
                "All is as desired. It has no children.",
            ),
        ] {
            assert_eq!(why(&state, &operator(stands)), expected);
        }
        let mut again = parent(ParentPhase::Failing, &[boom()], Some("no"));
        again.failures = 3;
        let said = why(&again, &operator(Running));
        assert!(said.ends_with("no. It has failed 3 times in a row."), "{said}");
    }

    #[test]
    fn it_has_stood_so_since_the_first_run_of_the_same_kind() {
        let failing = parent(ParentPhase::Failing, &[Outcome::Synced, boom(), boom()], None);
        let expected = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
        assert_eq!(since(&failing.history), Some(expected));
        assert_eq!(since(&History::default()), None);
    }
}
