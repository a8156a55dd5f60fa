//! The operators of a member: their states, and how many of their parents are in each phase. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::board::{OperatorSnapshot, OperatorState, ParentPhase};

/// The operators of a member, by name.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::web) struct Census(BTreeMap<String, Counted>);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Counted {
    state: String,
    reasons: Vec<String>,
    parents: BTreeMap<ParentPhase, usize>,
}

impl Census {
    pub(in crate::web) fn of<'a>(
        operators: impl IntoIterator<Item = &'a OperatorSnapshot>,
    ) -> Self {
        let counted = |operator: &OperatorSnapshot| Counted {
            state: operator.state.name().to_owned(),
            reasons: operator.state.reasons().to_vec(),
            parents: operator.parents.clone(),
        };
        let named = |operator| (OperatorSnapshot::name(operator).to_string(), counted(operator));
        Self(operators.into_iter().map(named).collect())
    }

    /// Counts the parents of a member in, and its reasons where it is not running.
    pub(in crate::web) fn count_into(&self, member: &str, operators: &mut [OperatorSnapshot]) {
        for operator in operators {
            let Some(counted) = self.0.get(operator.info.name.as_str()) else { continue };
            for (phase, count) in &counted.parents {
                *operator.parents.entry(*phase).or_default() += count;
            }
            operator.state = counted.joined(member, &operator.state);
        }
    }
}

impl Counted {
    /// The worse of two states, with the reasons of both; those of the member name it.
    fn joined(&self, member: &str, own: &OperatorState) -> OperatorState {
        let named = self.reasons.iter().map(|reason| format!("{member}: {reason}"));
        let both = |own: &[String]| own.iter().cloned().chain(named).collect();
        match (own, self.state.as_str()) {
            (OperatorState::Degraded { reasons }, "degraded") => {
                OperatorState::Degraded { reasons: both(reasons) }
            }
            (_, "degraded") => OperatorState::Degraded { reasons: both(&[]) },
            (OperatorState::Starting { waiting_for }, "starting") => {
                OperatorState::Starting { waiting_for: both(waiting_for) }
            }
            (OperatorState::Running, "starting") => {
                OperatorState::Starting { waiting_for: both(&[]) }
            }
            _ => own.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        board::{Board, OperatorInfo, ParentState},
        object::{K8sType, Uid},
        operator::OperatorConfig,
    };

    /// The operators of a process in this state, with a parent in each of these phases.
    fn operators(state: &OperatorState, phases: &[ParentPhase]) -> Vec<OperatorSnapshot> {
        let config = OperatorConfig::new("cook", K8sType::namespaced("v1", "Pod", "pods"));
        let (board, name) = (Board::new(), config.operator_name().unwrap());
        board.register(OperatorInfo { name: name.clone(), config, has_finalizer: false });
        board.set_operator(&name, state.clone());
        for (number, phase) in phases.iter().enumerate() {
            let state = ParentState::pending(Uid::new("u"), None);
            let state = ParentState { phase: *phase, ..state };
            board.record(&name, &format!("ns/{number}").parse().unwrap(), state);
        }
        board.operators()
    }

    fn degraded(reasons: &[&str]) -> OperatorState {
        let reasons = reasons.iter().map(|reason| (*reason).to_owned()).collect();
        OperatorState::Degraded { reasons }
    }

    fn starting(reasons: &[&str]) -> OperatorState {
        let waiting_for = reasons.iter().map(|reason| (*reason).to_owned()).collect();
        OperatorState::Starting { waiting_for }
    }

    #[test]
    fn the_parents_of_all_members_are_counted() {
        use ParentPhase::{Failing, Ready};
        let mut own = operators(&OperatorState::Running, &[Ready, Failing]);
        let other = Census::of(&operators(&OperatorState::Running, &[Ready, Ready]));
        let sent = serde_json::to_string(&other).unwrap();
        let other: Census = serde_json::from_str(&sent).unwrap();
        other.count_into("cook-1", &mut own);
        assert_eq!((own[0].parents[&Ready], own[0].parents[&Failing]), (3, 1));
        assert_eq!(own[0].state, OperatorState::Running);
        Census::default().count_into("cook-2", &mut own);
        assert_eq!(own[0].parents.values().sum::<usize>(), 4);
    }

    #[test]
    fn an_operator_is_as_the_worst_of_its_members() {
        let running = OperatorState::Running;
        for (own, other, expected) in [
            (&running, &degraded(&["no"]), degraded(&["cook-1: no"])),
            (&degraded(&["no"]), &degraded(&["nay"]), degraded(&["no", "cook-1: nay"])),
            (&degraded(&["no"]), &running, degraded(&["no"])),
            (&degraded(&["no"]), &starting(&["pods"]), degraded(&["no"])),
            (&running, &starting(&["pods"]), starting(&["cook-1: pods"])),
            (&starting(&["a"]), &starting(&["b"]), starting(&["a", "cook-1: b"])),
            (&starting(&["a"]), &running, starting(&["a"])),
            (&starting(&["a"]), &degraded(&["no"]), degraded(&["cook-1: no"])),
        ] {
            let mut operators_here = operators(own, &[]);
            Census::of(&operators(other, &[])).count_into("cook-1", &mut operators_here);
            assert_eq!(operators_here[0].state, expected);
        }
    }
}
