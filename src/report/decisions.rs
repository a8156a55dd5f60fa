//! The decisions of a reconcile about children that were not up to date, collected at its end. A child that
//! is up to date costs nothing.

use super::Report;
use crate::{
    history::{Decided, Decision},
    journal::Failure,
    operator::{ChildState, ConflictPolicy},
    plan::{ChildId, Contested, LastApplied, Refusal},
};

pub(super) fn made(report: &Report, last_applied: &LastApplied) -> Vec<Decision> {
    let mut made = stuck(report, last_applied);
    let writes = report.writes.iter().chain(&report.noop_writes).cloned();
    made.extend(writes.map(Decision::from));
    made
}

fn stuck(report: &Report, last_applied: &LastApplied) -> Vec<Decision> {
    let contested = last_applied.contested().filter(|one| !report.states.contains_key(&one.id));
    let mut stuck: Vec<(Decided, &ChildId, String)> = report
        .states
        .iter()
        .filter_map(|(id, (state, why))| Some((decided(*state)?, id, why.clone())))
        .chain(contested.map(held_by_others))
        .collect();
    stuck.sort_unstable_by_key(|(what, id, _)| (*what, *id));
    let stuck = stuck.into_iter();
    let stuck = stuck.map(|(what, id, why)| Decision::stuck(id.to_string(), what, why));
    stuck.chain(refused(report)).collect()
}

fn held_by_others(contested: &Contested) -> (Decided, &ChildId, String) {
    let what = match contested.policy {
        ConflictPolicy::Report => Decided::Conflict,
        ConflictPolicy::Yield | ConflictPolicy::Force => Decided::Held,
    };
    (what, &contested.id, contested.why().to_string())
}

fn refused(report: &Report) -> Vec<Decision> {
    let Some(Failure::Refused(refusals)) = report.failure() else { return Vec::new() };
    let refused =
        |one: &Refusal| Decision::stuck(one.child.as_str(), Decided::Refused, one.why.to_string());
    refusals.iter().map(refused).collect()
}

fn decided(state: ChildState) -> Option<Decided> {
    match state {
        ChildState::Synced => None,
        ChildState::Pending | ChildState::Terminating => Some(Decided::Waiting),
        ChildState::Held => Some(Decided::Held),
        ChildState::Conflict => Some(Decided::Conflict),
        ChildState::Failed => Some(Decided::Failed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        history::{Verb, WriteRecord},
        object::{K8sType, ObjectKey},
    };

    fn id(name: &str) -> ChildId {
        let ty = K8sType::namespaced("v1", "Pod", "pods");
        ChildId { ty, key: ObjectKey::namespaced("ns", name) }
    }

    #[test]
    fn stuck_children_precede_writes_and_children_that_are_up_to_date_are_omitted() {
        let mut report = Report::default();
        let write = WriteRecord {
            child: id("new").to_string(),
            verb: Verb::Created,
            paths: Vec::new(),
            drift: None,
        };
        report.writes.push(write);
        for (name, state, why) in [
            ("c", ChildState::Held, "a pause"),
            ("b", ChildState::Terminating, "it is being deleted"),
            ("a", ChildState::Pending, "the API server is throttling requests"),
            ("fine", ChildState::Synced, ""),
        ] {
            report.states.insert(id(name), (state, why.to_owned()));
        }
        let shown: Vec<_> = made(&report, &LastApplied::default())
            .into_iter()
            .map(|Decision { child, what, why, .. }| {
                format!("{child} {}: {}", what.name(), why.unwrap_or_default())
            })
            .collect();
        assert_eq!(
            shown,
            [
                "Pod.v1 ns/a Waiting: the API server is throttling requests",
                "Pod.v1 ns/b Waiting: it is being deleted",
                "Pod.v1 ns/c Held: a pause",
                "Pod.v1 ns/new Created: ",
            ]
        );
    }
}
