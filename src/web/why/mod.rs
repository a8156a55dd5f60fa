//! One sentence or two for a tired person: where a parent stands, what it is stuck on, and what to do.
//! Pure: words from what the board, the last run and the children say.

mod words;

use std::time::SystemTime;

pub(super) use words::purpose;
use words::{advice, what_failed, within};

use crate::{
    board::{OperatorPause, OperatorState, ParentPhase, ParentState, RunStage},
    history::{Decided, NextWake, Outcome, Run},
    schedule::WakeReason,
};

/// What the sentence is made from.
pub(super) struct Facts<'a> {
    pub(super) state: &'a OperatorState,
    pub(super) paused: Option<&'a OperatorPause>,
    pub(super) parent: &'a ParentState,
    /// Children that are there and not ready, in words.
    pub(super) unready: &'a [String],
    pub(super) places: usize,
    pub(super) now: SystemTime,
}

/// So many children are named.
const NAMED: usize = 3;

impl Facts<'_> {
    /// The sentence.
    pub(super) fn why(&self) -> String {
        let standing = self.standing();
        match (self.trouble_of_operator(), self.parent.phase) {
            (Some(trouble), _) => format!("{trouble} {standing}"),
            (None, _) => standing,
        }
    }

    fn trouble_of_operator(&self) -> Option<String> {
        match self.state {
            OperatorState::Starting { waiting_for } if waiting_for.is_empty() => {
                Some("The operator is starting.".to_owned())
            }
            OperatorState::Starting { waiting_for } => {
                Some(format!("The operator is starting: it waits for {}.", waiting_for.join(", ")))
            }
            OperatorState::Degraded { reasons } => {
                Some(format!("The operator is degraded: {}.", reasons.join("; ")))
            }
            OperatorState::Running => None,
        }
    }

    fn standing(&self) -> String {
        let last = self.parent.history.last();
        match self.parent.phase {
            ParentPhase::Pending if last.is_none() => match self.state {
                OperatorState::Running => self.queued("It has not run yet"),
                _ => "It has not run yet, and runs when the operator can.".to_owned(),
            },
            ParentPhase::Pending => self.queued("It is to run again"),
            ParentPhase::Running => self.running(),
            ParentPhase::Paused => self.paused(),
            ParentPhase::Failing | ParentPhase::Stalled => self.failing(last.map(|run| &**run)),
            ParentPhase::Finalizing => {
                format!("It is on its way out: {}.{}", self.message("it is finalized"), self.next())
            }
            ParentPhase::Waiting => {
                format!("It waits: {}.{}", self.message("for its children"), self.next())
            }
            ParentPhase::Synced => self.synced(last.map(|run| &**run)),
        }
    }

    fn queued(&self, what: &str) -> String {
        let places = self.places;
        format!("{what}: it waits for one of the {places} places among the runs of its operator.")
    }

    fn running(&self) -> String {
        match &self.parent.message {
            Some(message) if self.parent.run == RunStage::Overdue => format!(
                "A run is under way and hangs: {message}. Nothing more happens to it before the \
                 handler returns; mend the handler and restart the process."
            ),
            _ => "A run is under way.".to_owned(),
        }
    }

    fn paused(&self) -> String {
        let pending = self.message("nothing is pending");
        match self.paused {
            Some(_) => format!(
                "A person has paused the operator, and nothing is written: {pending}. Resume the \
                 operator to go on."
            ),
            None => format!(
                "A person has paused it by the annotation operetta.dev/paused, and nothing is \
                 written: {pending}. Resume it, or take the annotation off, to go on."
            ),
        }
    }

    fn failing(&self, last: Option<&Run>) -> String {
        let Some(Outcome::Failed { reason, message }) = last.map(|run| &run.outcome) else {
            return format!("It fails: {}.{}", self.message("its last run died"), self.next());
        };
        let times = match self.parent.failures {
            0 | 1 => "Its last run failed".to_owned(),
            times => format!("Its last {times} runs failed"),
        };
        let (what, advice) = (what_failed(*reason), advice(*reason, self.parent.phase));
        format!("{times}: {what}{}. {advice}{}", message.trim_end_matches('.'), self.next())
    }

    fn synced(&self, last: Option<&Run>) -> String {
        let stuck = last.map(|run| &*run.decisions).unwrap_or_default();
        let stuck: Vec<String> = stuck
            .iter()
            .filter(|it| matches!(it.what, Decided::Conflict | Decided::Held | Decided::Waiting))
            .map(|it| format!("{}: {}", it.child, it.why.as_deref().unwrap_or(it.what.name())))
            .collect();
        let next = self.next();
        if !stuck.is_empty() {
            return format!("All is as desired, but for {}.{next}", named(&stuck));
        }
        if self.unready.is_empty() {
            return format!("All is as desired, and nothing is to be done.{next}");
        }
        format!(
            "All is as desired, but not everything is ready: {}. That is not for the operator to \
             mend: look at what it names.{next}",
            named(self.unready)
        )
    }

    fn message(&self, otherwise: &str) -> String {
        let message = self.parent.message.as_deref().unwrap_or(otherwise);
        message.trim_end_matches('.').to_owned()
    }

    /// When it runs again by itself, and why.
    fn next(&self) -> String {
        let Some(NextWake { at, why }) = self.parent.next_wake else {
            return match (self.parent.run, self.parent.phase) {
                (RunStage::Queued, _) => self.queued(" It is to run again"),
                (RunStage::UnderWay, _) => " A run is under way.".to_owned(),
                (_, ParentPhase::Stalled) => " It is not tried again before that.".to_owned(),
                _ => String::new(),
            };
        };
        let seconds = at.duration_since(self.now).unwrap_or_default().as_secs();
        let advice = if why == WakeReason::Retry { "; order a sync to try at once" } else { "" };
        format!(" It runs again {} {}{advice}.", within(seconds), purpose(why))
    }
}

fn named(some: &[String]) -> String {
    let shown = some.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join("; ");
    match some.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        history::{Decision, FailureKind},
        object::Uid,
    };

    struct Case {
        state: OperatorState,
        parent: ParentState,
        unready: Vec<String>,
    }

    fn case(phase: ParentPhase) -> Case {
        let parent = ParentState { phase, ..ParentState::pending(Uid::new("u"), Some(1)) };
        Case { state: OperatorState::Running, parent, unready: Vec::new() }
    }

    fn run(outcome: Outcome) -> Run {
        Run::new(SystemTime::UNIX_EPOCH, Duration::ZERO, outcome)
    }

    fn failed(reason: FailureKind, message: &str) -> Run {
        run(Outcome::Failed { reason, message: message.into() })
    }

    impl Case {
        fn with(mut self, run: Run) -> Self {
            self.parent.message = run.error().map(str::to_owned);
            self.parent.history.record(run);
            self
        }

        fn saying(mut self, message: &str) -> Self {
            self.parent.message = Some(message.to_owned());
            self
        }

        fn waking(mut self, seconds: u64, why: WakeReason) -> Self {
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            self.parent.next_wake = Some(NextWake { at, why });
            self
        }

        fn overdue(mut self) -> Self {
            self.parent.run = RunStage::Overdue;
            self.saying("the handler has not returned within 30 s")
        }

        fn of(mut self, state: OperatorState) -> Self {
            self.state = state;
            self
        }

        fn why(&self, paused: Option<&OperatorPause>) -> String {
            let Self { state, parent, unready } = self;
            let now = SystemTime::UNIX_EPOCH;
            Facts { state, paused, parent, unready, places: 16, now }.why()
        }
    }

    #[test]
    fn the_sentence_names_what_it_is_stuck_on_and_what_to_do() {
        let degraded = OperatorState::Degraded { reasons: vec!["pods: no such type".to_owned()] };
        let mut unready = case(ParentPhase::Synced).with(run(Outcome::Synced));
        unready.unready = vec!["Pod.v1 ns/a: ImagePullBackOff".to_owned()];
        let mut yielded = run(Outcome::Synced);
        yielded.decisions =
            [Decision::stuck("Pod.v1 ns/a", Decided::Held, "others hold .spec".to_owned())].into();
        let mut often = case(ParentPhase::Failing).with(failed(FailureKind::WriteFailed, "403 no"));
        (often.parent.failures, often.parent.run) = (4, RunStage::Queued);
        for (case, parts) in [
            (case(ParentPhase::Pending), vec!["has not run yet", "16 places"]),
            (
                case(ParentPhase::Pending).of(degraded),
                vec!["degraded: pods: no such type", "not run"],
            ),
            (case(ParentPhase::Running), vec!["A run is under way."]),
            (
                // What the run before said.
                case(ParentPhase::Running).saying("the handler has not returned within 30 s"),
                vec!["A run is under way."],
            ),
            (case(ParentPhase::Running).overdue(), vec!["hangs", "within 30 s", "restart"]),
            (case(ParentPhase::Paused).saying("1 is pending"), vec!["annotation", "1 is pending"]),
            (
                case(ParentPhase::Failing)
                    .with(failed(FailureKind::HandlerFailed, "the oven is cold"))
                    .waking(90, WakeReason::Retry),
                vec!["the handler returned an error: the oven is cold.", "in 90 s", "order a sync"],
            ),
            (
                case(ParentPhase::Failing)
                    .with(failed(FailureKind::HandlerPanicked, "the handler panicked: oh")),
                vec!["Its last run failed: the handler panicked: oh. That is a defect"],
            ),
            (often, vec!["last 4 runs", "403 no", "what the server says", "the 16 places"]),
            (
                case(ParentPhase::Stalled)
                    .with(failed(FailureKind::Conflict, "Pod.v1 ns/a exists")),
                vec!["in the way: Pod.v1 ns/a exists", "Do one of these", "not tried again"],
            ),
            (
                case(ParentPhase::Waiting)
                    .saying("Pod.v1 ns/a: it is being deleted")
                    .waking(7200, WakeReason::Recheck),
                vec!["It waits: Pod.v1 ns/a: it is being deleted.", "in 2 h"],
            ),
            (case(ParentPhase::Finalizing), vec!["on its way out"]),
            (case(ParentPhase::Synced), vec!["nothing is to be done."]),
            (unready, vec!["not everything is ready: Pod.v1 ns/a: ImagePullBackOff"]),
            (
                case(ParentPhase::Synced).with(yielded),
                vec!["but for Pod.v1 ns/a: others hold .spec"],
            ),
        ] {
            let why = case.why(None);
            assert!(parts.iter().all(|part| why.contains(part)), "{parts:?} in: {why}");
        }
    }

    #[test]
    fn a_pause_of_the_operator_is_not_taken_for_one_of_the_parent() {
        let paused = OperatorPause { since: SystemTime::UNIX_EPOCH, by: None };
        let why = case(ParentPhase::Paused).why(Some(&paused));
        assert!(why.contains("paused the operator") && !why.contains("annotation"), "{why}");
    }

    #[test]
    fn of_many_children_some_are_named_and_the_others_counted() {
        let many: Vec<String> = (0..5).map(|number| number.to_string()).collect();
        assert_eq!(named(&many), "0; 1; 2; and 2 more");
    }
}
