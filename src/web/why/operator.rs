//! What keeps an operator from reconciling its parents.

use crate::{
    board::{OperatorSnapshot, OperatorState},
    history::{Action, Problem},
    report::problem,
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

fn degraded(name: &str, why: &str) -> Problem {
    let actions = problem::of_operator(why);
    let problem = Problem::new(format!("Operator {name} is degraded")).because(why);
    if actions.is_empty() {
        return problem.cured_by([Action::text(
            "Do what the reason names; the operator then continues by itself",
        )]);
    }
    problem.cured_by(actions)
}
