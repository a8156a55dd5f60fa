//! What keeps an operator from reconciling its parents.

use crate::{
    board::{OperatorSnapshot, OperatorState},
    history::{Action, Problem},
    object::{K8sType, ObjectKey},
    plan::ChildId,
    report::problem::{self, kubectl},
};

/// A problem for each reason; none of an operator that runs.
pub(in crate::web) fn of_operator(operator: &OperatorSnapshot) -> Vec<Problem> {
    let name = &operator.info.name;
    match &operator.state {
        OperatorState::Running => Vec::new(),
        OperatorState::Starting { waiting_for } => {
            let starting = Problem::new(format!("Operator {name} is starting"));
            vec![
                waiting_for.iter().fold(starting, |problem, what| {
                    problem.because(format!("it waits for {what}"))
                }),
            ]
        }
        OperatorState::Degraded { reasons } => {
            reasons.iter().map(|why| degraded(name.as_str(), why)).collect()
        }
    }
}

/// Another process does the work, and knows how the parents are.
pub(in crate::web) fn standby(operator: &OperatorSnapshot) -> Option<Problem> {
    let leadership = operator.leadership.as_ref().filter(|it| !it.leads)?;
    let problem =
        Problem::new(format!("Operator {} is a standby in this process", operator.info.name));
    let problem = leadership.sentence().into_iter().fold(problem, Problem::because);
    let Some(holder) = &leadership.holder else {
        return Some(problem.because("nobody leads: no parent is reconciled"));
    };
    let (namespace, name) = leadership.lease.split_once('/').unwrap_or(("", &leadership.lease));
    let ty = K8sType::namespaced("coordination.k8s.io/v1", "Lease", "leases");
    let lease = ChildId { ty, key: ObjectKey::namespaced(namespace, name) };
    Some(problem.because("what is shown is not from the leader").cured_by([
        Action::text(format!("Ask {holder}, which does the work")),
        Action::command(
            format!(
                "Or, if {holder} no longer runs, delete the Lease, so that another process leads"
            ),
            kubectl::on("delete", &lease),
        ),
    ]))
}

fn degraded(name: &str, why: &str) -> Problem {
    let actions = problem::of_operator(why);
    let what = problem::unreadable(why).map(|what| format!(": {what}")).unwrap_or_default();
    let problem = Problem::new(format!("Operator {name} is degraded{what}")).because(why);
    if actions.is_empty() {
        return problem.cured_by([Action::text(
            "Do what the reason names; the operator then continues by itself",
        )]);
    }
    problem.cured_by(actions)
}
