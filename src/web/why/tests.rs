//! The explanation of each phase.

use std::time::{Duration, SystemTime};

use super::*;
use crate::{
    board::{Board, Leadership, OperatorInfo},
    election::FenceReach,
    history::{Decision, FailureKind, Outcome},
    object::{K8sType, Uid},
    operator::{OperatorConfig, OperatorName},
};

struct Case {
    operator: OperatorSnapshot,
    parent: ParentState,
}

fn case(phase: ParentPhase) -> Case {
    let ty = K8sType::namespaced("example.dev/v1", "Menu", "menus");
    let board = Board::new();
    let (name, config) = (OperatorName::new("cook").unwrap(), OperatorConfig::new("cook", ty));
    board.register(OperatorInfo { name, config, has_finalizer: false });
    let mut operator = board.operator("cook").unwrap();
    operator.state = OperatorState::Running;
    let parent = ParentState { phase, ..ParentState::pending(Uid::new("u"), Some(1)) };
    Case { operator, parent }
}

fn reconcile(outcome: Outcome) -> Reconcile {
    Reconcile::new(SystemTime::UNIX_EPOCH, Duration::ZERO, outcome)
}

fn failed(problem: Problem) -> Reconcile {
    let outcome = Outcome::Failed { reason: FailureKind::WriteFailed, message: "no".into() };
    Reconcile { problems: [problem].into(), ..reconcile(outcome) }
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

    /// What, and the evidence.
    fn why(&self) -> Vec<(String, Vec<String>)> {
        let key = ObjectKey::namespaced("shop", "menu");
        let facts = Facts { operator: &self.operator, key: &key, parent: &self.parent };
        facts.why().into_iter().map(|problem| (problem.what, problem.because)).collect()
    }
}

fn said(what: &str, because: &[&str]) -> Vec<(String, Vec<String>)> {
    vec![(what.to_owned(), because.iter().map(|why| (*why).to_owned()).collect())]
}

#[test]
fn each_phase_has_words_and_what_is_well_has_no_evidence() {
    let left = |outcome| {
        let held = Decision::stuck("Pod.v1 ns/a", Decided::Held, "others hold .spec".to_owned());
        Reconcile { decisions: [held].into(), ..reconcile(outcome) }
    };
    let refused = Problem::new("ConfigMap shop/a was refused").because("data: no");
    let mut often = case(ParentPhase::Failing).with(failed(refused.clone()));
    often.parent.failures = 4;
    let begun = "since 1970-01-01T00:00:00Z";
    for (case, expected) in [
        (
            case(ParentPhase::Pending),
            said(
                "It has not been reconciled yet: it waits for one of the 32 permits of its operator",
                &[],
            ),
        ),
        (case(ParentPhase::Running), said("A reconcile is in progress", &[])),
        // The message of the previous reconcile is not shown.
        (case(ParentPhase::Running).message("old"), said("A reconcile is in progress", &[])),
        (
            case(ParentPhase::Paused).message("1 is pending"),
            said(
                "Menu shop/menu is paused",
                &["paused, by the annotation operetta.dev/paused", "1 is pending"],
            ),
        ),
        (
            case(ParentPhase::Stalled).with(failed(refused)),
            said("ConfigMap shop/a was refused", &["data: no", begun]),
        ),
        (
            often,
            said(
                "ConfigMap shop/a was refused",
                &["data: no", &format!("{begun}; 4 reconciles in a row have failed")],
            ),
        ),
        (
            case(ParentPhase::Waiting).message("Pod.v1 ns/a: it goes"),
            said("Menu shop/menu waits", &["Pod.v1 ns/a: it goes"]),
        ),
        (case(ParentPhase::Ready), said("Everything is up to date and ready", &[])),
        (
            case(ParentPhase::Ready).with(left(Outcome::Ready)),
            said("Everything is up to date except Pod.v1 ns/a: others hold .spec", &[]),
        ),
        (
            case(ParentPhase::Synced).message("Pod.v1 ns/b: it starts"),
            said("Menu shop/menu is not ready", &["Pod.v1 ns/b: it starts"]),
        ),
    ] {
        assert_eq!(case.why(), expected);
    }
}

#[test]
fn a_handler_that_hangs_is_no_bug_of_the_handler() {
    let mut case = case(ParentPhase::Running);
    case.parent.stage = ReconcileStage::HandlerTimeout;
    let [(what, because)] = &*case.why() else { panic!("one problem") };
    assert!(what.starts_with("Menu shop/menu waits for its handler"), "{what}");
    assert!(because.iter().any(|why| why.contains("another system")), "{because:?}");
}

#[test]
fn an_operator_that_does_not_run_is_a_problem_of_each_of_its_parents() {
    let mut case = case(ParentPhase::Pending);
    let reasons =
        vec!["the API server does not serve pods.x in version v1: install its CRD".to_owned()];
    case.operator.state = OperatorState::Degraded { reasons: reasons.clone() };
    let what = "Operator cook is degraded: the API server does not serve pods.x in version v1";
    assert_eq!(case.why(), said(what, &[&reasons[0]]));
}

#[test]
fn a_pause_of_the_operator_is_not_shown_as_one_of_the_parent() {
    let mut case = case(ParentPhase::Paused);
    let pause =
        Pause::begun(SystemTime::UNIX_EPOCH, Some("ann"), None, Some("the volume is moved"));
    case.operator.paused = Some(pause.into());
    let because = [
        "cook: paused by ann since 1970-01-01T00:00:00Z: the volume is moved",
        "nothing is pending",
    ];
    assert_eq!(case.why(), said("Menu shop/menu is paused with its operator", &because));
}

#[test]
fn a_standby_names_the_leader_and_how_a_dead_one_is_replaced() {
    let mut case = case(ParentPhase::Pending);
    let leadership = Leadership {
        share: None,
        lease: "ops/cooks".to_owned(),
        identity: "second".to_owned(),
        leads: false,
        holder: Some("first".to_owned()),
        problem: None,
        is_lost: false,
        reach: FenceReach::Server,
    };
    case.operator.leadership = Some(leadership.clone());
    let problem = standby(&case.operator).unwrap();
    assert_eq!(problem.what, "Operator cook is a standby in this process");
    assert_eq!(problem.because[0], "standby: first leads by the Lease ops/cooks");
    assert_eq!(problem.actions[0].text, "Ask first, which does the work");
    let command = problem.actions[1].command.as_deref();
    assert_eq!(command, Some("kubectl delete leases.coordination.k8s.io cooks -n ops"));
    case.operator.leadership = Some(Leadership { leads: true, ..leadership });
    assert_eq!(standby(&case.operator), None);
}

#[test]
fn what_is_above_a_parent_comes_first_and_nothing_is_calm_beside_it() {
    let above = vec![Problem::new("The API server does not answer")];
    let calm = vec![Problem::new(UP_TO_DATE)];
    let own = vec![Problem::new("Pod a is refused").cured_by([Action::text("Change it")])];
    let what = |problems: Vec<Problem>| -> Vec<String> {
        problems.into_iter().map(|it| it.what).collect()
    };
    assert_eq!(what(with_those_above(above.clone(), calm.clone())), [above[0].what.clone()]);
    let both = [above[0].what.clone(), own[0].what.clone()];
    assert_eq!(what(with_those_above(above, own)), both);
    assert_eq!(what(with_those_above(Vec::new(), calm)), [UP_TO_DATE]);
}

#[test]
fn only_some_of_many_children_are_named_and_the_rest_is_counted() {
    let many: Vec<String> = (0..5).map(|number| number.to_string()).collect();
    assert_eq!(named(&many), "0; 1; 2; and 2 more");
}
