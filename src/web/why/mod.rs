//! Explains a parent: what is wrong, why, and what to do. Pure: a function of the board and the last reconcile, whose
//! problems [`report`](crate::report::problem) has found. Here they get what only the board knows: the operator, pauses,
//! handlers that hang, and how long it lasts.

mod operator;
mod process;
#[cfg(feature = "dashboard")]
mod words;

use k8s_openapi::jiff::Timestamp;

pub(super) use operator::{of_operator, standby};
pub(super) use process::of_process;
#[cfg(feature = "dashboard")]
pub(in crate::web) use words::purpose;

use crate::{
    board::{OperatorSnapshot, OperatorState, ParentPhase, ParentState, ReconcileStage},
    history::{Action, Decided, Problem, Reconcile},
    journal::Failure,
    object::{Object, ObjectKey},
    operator::{PAUSED_ANNOTATION, Pause},
    plan::ChildId,
    report::problem::{kubectl, of_ending, of_flapping, of_one_failure},
};

pub(super) struct Facts<'a> {
    pub(super) operator: &'a OperatorSnapshot,
    pub(super) key: &'a ObjectKey,
    pub(super) parent: &'a ParentState,
}

const UP_TO_DATE: &str = "Everything is up to date";

/// The most children named of those that are left as they are.
const NAMED: usize = 3;

impl Facts<'_> {
    /// The problems of the parent, the worst first; one without an action if all is well.
    pub(super) fn why(&self) -> Vec<Problem> {
        let mut problems = self.of_parent();
        if let Some(summary) = &self.parent.flapping_summary {
            problems.extend(of_flapping(summary, &self.id()));
        }
        if !matches!(self.operator.state, OperatorState::Running) {
            problems.extend(of_operator(self.operator));
        }
        if problems.is_empty() {
            problems.push(Problem::new(self.calm()));
        }
        problems
    }

    fn of_parent(&self) -> Vec<Problem> {
        let found = || self.found();
        match self.parent.phase {
            ParentPhase::Pending | ParentPhase::Running if self.hangs() => self.hanging(),
            ParentPhase::Pending | ParentPhase::Running => Vec::new(),
            ParentPhase::Paused => vec![self.paused()],
            ParentPhase::Failing => {
                self.lasting(self.or(found(), "fails", "its last reconcile died"))
            }
            ParentPhase::Stalled => {
                self.lasting(self.or(found(), "is stalled", "somebody has to act"))
            }
            ParentPhase::Finalizing => {
                self.lasting(self.or(found(), "is being deleted", "it is being finalized"))
            }
            // It waits only because it is flapping.
            ParentPhase::Waiting
                if self.parent.flapping_summary.is_some() && self.parent.message.is_none() =>
            {
                found()
            }
            ParentPhase::Waiting => self.lasting(self.or(found(), "waits", "for its children")),
            ParentPhase::Synced => {
                self.lasting(self.or(found(), "is not ready", "children are not ready"))
            }
            ParentPhase::Ready => found(),
        }
    }

    /// Those of the last reconcile.
    fn found(&self) -> Vec<Problem> {
        self.last().map(|last| last.problems.to_vec()).unwrap_or_default()
    }

    fn or(&self, found: Vec<Problem>, says: &str, otherwise: &str) -> Vec<Problem> {
        if found.is_empty() {
            vec![self.problem(says).because(self.message(otherwise))]
        } else {
            found
        }
    }

    /// With how long and how often.
    fn lasting(&self, mut problems: Vec<Problem>) -> Vec<Problem> {
        let since = self.parent.history.since().and_then(|at| Timestamp::try_from(at).ok());
        let since = since.map(|since| format!("since {since:.0}"));
        let times = (self.parent.failures > 1)
            .then(|| format!("{} reconciles in a row have failed", self.parent.failures));
        let lasts: Vec<String> = [since, times].into_iter().flatten().collect();
        if let Some(first) = problems.first_mut().filter(|_| !lasts.is_empty()) {
            first.because.push(lasts.join("; "));
        }
        problems
    }

    fn hangs(&self) -> bool {
        self.parent.stage == ReconcileStage::HandlerTimeout
    }

    fn hanging(&self) -> Vec<Problem> {
        let after = self.operator.info.config.handler_deadline;
        of_one_failure(&Failure::HandlerTimeout { after, hangs: true }, &self.id())
    }

    fn paused(&self) -> Problem {
        let pending = self.message("nothing is pending");
        let unknown = Pause::default();
        if let Some(pause) = &self.operator.paused {
            return self
                .problem("is paused with its operator")
                .because(format!("{}: {pause}", self.operator.info.name))
                .because(pending)
                .cured_by([Action::text("Resume the operator")]);
        }
        let pause = self.parent.pause.as_deref().unwrap_or(&unknown);
        let removed = format!("{PAUSED_ANNOTATION}-");
        let command = kubectl::with("annotate", &self.id(), &[&removed]);
        self.problem("is paused")
            .because(format!("{pause}, by the annotation {PAUSED_ANNOTATION}"))
            .because(pending)
            .cured_by([Action::command("Resume it", command)])
    }

    /// What to say where nothing is wrong.
    fn calm(&self) -> String {
        let limit = self.operator.info.config.max_concurrent_reconciles;
        let queued =
            |what| format!("{what}: it waits for one of the {limit} permits of its operator");
        match self.parent.phase {
            ParentPhase::Pending if self.last().is_none() => {
                queued("It has not been reconciled yet")
            }
            ParentPhase::Pending => queued("It will be reconciled again"),
            ParentPhase::Running => "A reconcile is in progress".to_owned(),
            _ => self.up_to_date(),
        }
    }

    fn up_to_date(&self) -> String {
        let decisions = self.last().map(|it| &*it.decisions).unwrap_or_default();
        let left: Vec<String> = decisions
            .iter()
            .filter(|it| matches!(it.what, Decided::Conflict | Decided::Held | Decided::Waiting))
            .map(|it| format!("{}: {}", it.child, it.why.as_deref().unwrap_or(it.what.name())))
            .collect();
        if left.is_empty() {
            format!("{UP_TO_DATE} and ready")
        } else {
            format!("{UP_TO_DATE} except {}", named(&left))
        }
    }

    fn last(&self) -> Option<&Reconcile> {
        self.parent.history.last().map(|it| &**it)
    }

    fn message(&self, otherwise: &str) -> String {
        self.parent.message.as_deref().unwrap_or(otherwise).to_owned()
    }

    fn problem(&self, says: &str) -> Problem {
        let kind = self.operator.info.config.parent.kind();
        Problem::new(format!("{kind} {} {says}", self.key))
    }

    fn id(&self) -> ChildId {
        ChildId { ty: self.operator.info.config.parent.clone(), key: self.key.clone() }
    }
}

/// A parent that only finalizers of others keep from being deleted.
pub(super) fn ending(parent: &Object, operator: &OperatorSnapshot) -> Vec<Problem> {
    let ours = operator.info.config.finalizer_name();
    let all = parent.finalizers();
    // Those without a domain are of Kubernetes, which removes them itself.
    let others: Vec<String> = all.iter().filter(|it| it.contains('/')).cloned().collect();
    if !parent.is_deleting() || others.is_empty() || all.contains(&ours) {
        return Vec::new();
    }
    of_ending(&ChildId::of(parent), &others)
}

/// The problems above a parent before its own. That all is well is not said then.
pub(super) fn with_those_above(above: Vec<Problem>, own: Vec<Problem>) -> Vec<Problem> {
    if above.is_empty() {
        return own;
    }
    let is_calm = |it: &Problem| it.because.is_empty() && it.actions.is_empty();
    above.into_iter().chain(own.into_iter().filter(|it| !is_calm(it))).collect()
}

fn named(some: &[String]) -> String {
    let shown = some.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join("; ");
    match some.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

#[cfg(test)]
mod tests;
