//! The explanation of each state.

use std::time::Duration;

use super::*;
use crate::{
    history::{Decision, FailureKind},
    object::Uid,
    plan::FlappingReason,
};

struct Case {
    state: OperatorState,
    parent: ParentState,
}

fn case(phase: ParentPhase) -> Case {
    let parent = ParentState { phase, ..ParentState::pending(Uid::new("u"), Some(1)) };
    Case { state: OperatorState::Running, parent }
}

fn reconcile(outcome: Outcome) -> Reconcile {
    Reconcile::new(SystemTime::UNIX_EPOCH, Duration::ZERO, outcome)
}

fn failed(reason: FailureKind, message: &str) -> Reconcile {
    reconcile(Outcome::Failed { reason, message: message.into() })
}

impl Case {
    fn with(mut self, reconcile: Reconcile) -> Self {
        self.parent.message = reconcile.error().map(str::to_owned);
        self.parent.history.record(reconcile);
        self
    }

    fn message(mut self, message: &str) -> Self {
        self.parent.message = Some(message.to_owned());
        self
    }

    fn waking(mut self, seconds: u64, why: WakeReason) -> Self {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        self.parent.next_wake = Some(NextWake { at, why });
        self
    }

    fn flapping(mut self, why: FlappingReason, message: &str) -> Self {
        self.parent.flapping_summary =
            Some(Box::new(FlappingSummary { why, message: message.to_owned() }));
        self
    }

    fn overdue(mut self) -> Self {
        self.parent.stage = ReconcileStage::HandlerTimeout;
        self.message("the handler has not returned within 30 s")
    }

    fn of(mut self, state: OperatorState) -> Self {
        self.state = state;
        self
    }

    fn why(&self, paused: Option<&Pause>) -> String {
        let Self { state, parent } = self;
        let now = SystemTime::UNIX_EPOCH;
        Facts { state, paused, parent, limit: 16, now }.why()
    }
}

#[test]
fn the_explanation_names_the_reason_and_what_to_do() {
    let degraded = OperatorState::Degraded { reasons: vec!["pods: no such type".to_owned()] };
    let yielded = |outcome| {
        let held = Decision::stuck("Pod.v1 ns/a", Decided::Held, "others hold .spec".to_owned());
        Reconcile { decisions: [held].into(), ..reconcile(outcome) }
    };
    let not_ready = "Pod.v1 ns/b: ImagePullBackOff";
    let mut reported = reconcile(Outcome::Waiting);
    reported.decisions =
        [Decision::stuck("Pod.v1 ns/a", Decided::Conflict, "not written".to_owned())].into();
    let mut often = case(ParentPhase::Failing).with(failed(FailureKind::WriteFailed, "403 no"));
    (often.parent.failures, often.parent.stage) = (4, ReconcileStage::Queued);
    for (case, parts) in [
        (case(ParentPhase::Pending), vec!["has not been reconciled yet", "16 permits"]),
        (
            case(ParentPhase::Pending).of(degraded),
            vec!["degraded: pods: no such type", "not been reconciled"],
        ),
        (case(ParentPhase::Running), vec!["A reconcile is in progress."]),
        (
            // The message of the previous reconcile is not shown.
            case(ParentPhase::Running).message("the handler has not returned within 30 s"),
            vec!["A reconcile is in progress."],
        ),
        (case(ParentPhase::Running).overdue(), vec!["hangs", "within 30 s", "restart"]),
        (case(ParentPhase::Paused).message("1 is pending"), vec!["annotation", "1 is pending"]),
        (
            case(ParentPhase::Failing)
                .with(failed(FailureKind::HandlerFailed, "the oven is cold"))
                .waking(90, WakeReason::Retry),
            vec![
                "the handler returned an error: the oven is cold.",
                "in 90 s",
                "use the command sync",
            ],
        ),
        (
            case(ParentPhase::Failing)
                .with(failed(FailureKind::HandlerPanicked, "the handler panicked: oh")),
            vec!["Its last reconcile failed: the handler panicked: oh. This is a bug"],
        ),
        (often, vec!["last 4 reconciles", "403 no", "the reported error", "the 16 permits"]),
        (
            case(ParentPhase::Stalled).with(failed(FailureKind::Conflict, "Pod.v1 ns/a exists")),
            vec!["not owned: Pod.v1 ns/a exists", "Do one of these", "not retried"],
        ),
        (
            case(ParentPhase::Waiting)
                .message("Pod.v1 ns/a: it is being deleted")
                .waking(7200, WakeReason::Recheck),
            vec!["It waits: Pod.v1 ns/a: it is being deleted.", "in 2 h"],
        ),
        (
            case(ParentPhase::Waiting).waking(9, WakeReason::Unsettled),
            vec!["in 9 s because each reconcile had to write its children."],
        ),
        (
            case(ParentPhase::Waiting).with(reported).message("Pod.v1 ns/a: not written"),
            vec!["It waits: Pod.v1 ns/a: not written. Let the other manager release these"],
        ),
        (case(ParentPhase::Finalizing), vec!["is terminating"]),
        (case(ParentPhase::Ready), vec!["up to date and ready."]),
        (
            case(ParentPhase::Ready).with(yielded(Outcome::Ready)),
            vec!["except Pod.v1 ns/a: others hold .spec."],
        ),
        (
            case(ParentPhase::Synced).message(not_ready),
            vec![
                "up to date, but it is not ready: Pod.v1 ns/b: ImagePullBackOff. The operator has",
            ],
        ),
        (
            case(ParentPhase::Synced).with(yielded(Outcome::Synced)).message(not_ready),
            vec!["except Pod.v1 ns/a: others hold .spec, but it is not ready: Pod.v1 ns/b: Image"],
        ),
    ] {
        let why = case.why(None);
        assert!(parts.iter().all(|part| why.contains(part)), "{parts:?} in: {why}");
    }
}

#[test]
fn flapping_is_explained_with_the_other_manager_and_what_to_do() {
    let fight = "Service.v1 ns/a: `rival` reverts .spec repeatedly";
    let (fighting, unstable) =
        (FlappingReason::FightingOverFields, FlappingReason::UnstableHandler);
    for (case, parts, not) in [
        (
            case(ParentPhase::Waiting).flapping(fighting, fight).waking(9, WakeReason::Slowed),
            vec![
                fight,
                "ConflictPolicy::Yield",
                "delayed more and more. It is reconciled again in 9 s",
            ],
            "for its children",
        ),
        (
            case(ParentPhase::Waiting).flapping(fighting, fight),
            vec!["delayed more and more."],
            "It waits",
        ),
        (
            case(ParentPhase::Ready)
                .with(reconcile(Outcome::Ready))
                .flapping(unstable, "it differs"),
            vec!["it differs. Fix the handler", "Everything is up to date for now."],
            "and ready",
        ),
        (
            case(ParentPhase::Waiting).flapping(fighting, fight).message("Pod.v1 ns/a: it goes"),
            vec![fight, "It waits: Pod.v1 ns/a: it goes."],
            "for its children",
        ),
    ] {
        let why = case.why(None);
        assert!(parts.iter().all(|part| why.contains(part)), "{parts:?} in: {why}");
        assert!(!why.contains(not) && why.trim() == why, "{why}");
    }
}

#[test]
fn a_pause_of_the_operator_is_not_shown_as_one_of_the_parent() {
    let paused = Pause::default();
    let why = case(ParentPhase::Paused).why(Some(&paused));
    assert!(why.contains("paused the operator") && !why.contains("annotation"), "{why}");
}

#[test]
fn only_some_of_many_children_are_named_and_the_rest_is_counted() {
    let many: Vec<String> = (0..5).map(|number| number.to_string()).collect();
    assert_eq!(named(&many), "0; 1; 2; and 2 more");
}
