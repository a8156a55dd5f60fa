//! One reconcile.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use schemars::JsonSchema;
use serde::Serialize;

use super::{Cause, Decision, FailureKind, Problem, StepTimes, wire};

/// One reconcile that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reconcile {
    /// The number of the reconcile for this parent in this process, from 1; set by
    /// [`History::record`](super::History::record).
    pub(crate) number: u64,
    /// When it started.
    #[serde(serialize_with = "wire::time")]
    #[schemars(with = "wire::Timestamp")]
    pub started: SystemTime,
    /// How long it took.
    #[serde(rename = "durationMilliseconds", serialize_with = "wire::millis")]
    #[schemars(with = "f64")]
    pub(crate) duration: Duration,
    /// Why it started.
    pub causes: Vec<Cause>,
    /// The outcome.
    pub outcome: Outcome,
    /// The message, unless it failed: above all what it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) message: Option<Arc<str>>,
    /// Who paused it, since when, until when and why, if the pause says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub(crate) paused: Option<Arc<str>>,
    /// The children that were not up to date: first those that are stuck, then the writes.
    pub decisions: Arc<[Decision]>,
    /// What keeps the parent from being up to date and ready. Shown once, beside the history.
    #[serde(skip)]
    pub(crate) problems: Arc<[Problem]>,
    /// How many further decisions are not kept.
    #[serde(skip_serializing_if = "wire::is_zero")]
    pub(crate) omitted: usize,
    /// How many children were up to date.
    pub(crate) unchanged: usize,
    /// How long its steps took.
    #[serde(rename = "stepMilliseconds")]
    pub(crate) steps: StepTimes,
    /// Whether the parent's status was written.
    pub(crate) wrote_status: bool,
    /// Whether the condition `Stalled` is `True` since then, which the phase of the parent shows.
    #[serde(skip)]
    pub(crate) is_stalled: bool,
}

/// The outcome of a reconcile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "result")]
pub enum Outcome {
    /// Nothing was left to do, and the parent is ready.
    Ready,
    /// Nothing was left to do, and the parent is not ready.
    Synced,
    /// Children were written; the next reconcile looks at the result.
    Wrote,
    /// It waits for another change.
    Waiting,
    /// The parent is paused: nothing was written.
    Paused,
    /// The parent was finalized and released.
    Finalized,
    /// The parent was gone before the reconcile began.
    Gone,
    /// It failed; children stay as they are unless `decisions` says otherwise.
    Failed {
        /// One word, as in the condition and the Event.
        reason: FailureKind,
        /// The error.
        #[schemars(with = "String")]
        message: Arc<str>,
    },
}

/// The most decisions kept of one reconcile.
const MAX_DECISIONS: usize = 50;

/// The longest text kept, in bytes.
const MAX_TEXT: usize = 1024;

// === Reconcile ===

impl Reconcile {
    /// A reconcile without decisions, to be filled in.
    pub(crate) fn new(started: SystemTime, duration: Duration, outcome: Outcome) -> Self {
        let (causes, message, paused, decisions, problems, steps) = <_>::default();
        let (number, omitted, unchanged, wrote_status, is_stalled) = (0, 0, 0, false, false);
        Self {
            number,
            started,
            duration,
            causes,
            outcome,
            message,
            paused,
            decisions,
            problems,
            omitted,
            unchanged,
            steps,
            wrote_status,
            is_stalled,
        }
    }

    /// The writes and deletions.
    pub(crate) fn writes(&self) -> impl Iterator<Item = &Decision> {
        self.decisions.iter().filter(|decision| decision.what.verb().is_some())
    }

    /// Why it failed.
    pub fn error(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Failed { message, .. } => Some(message),
            Outcome::Ready
            | Outcome::Synced
            | Outcome::Wrote
            | Outcome::Waiting
            | Outcome::Paused
            | Outcome::Finalized
            | Outcome::Gone => None,
        }
    }

    /// Whether it wrote nothing, and the next one had the same result.
    pub(super) fn is_repeated_by(&self, next: &Self) -> bool {
        self.is_quiet() && self.result() == next.result()
    }

    /// Whether both wrote nothing and had the same result.
    #[cfg_attr(not(feature = "dashboard"), expect(dead_code, reason = "for the page"))]
    pub(crate) fn has_result_of(&self, other: &Self) -> bool {
        self.is_repeated_by(other) && other.is_quiet()
    }

    fn is_quiet(&self) -> bool {
        !self.wrote_status && self.writes().next().is_none()
    }

    fn result(&self) -> (&Outcome, bool, [&Option<Arc<str>>; 2], &[Decision]) {
        (&self.outcome, self.is_stalled, [&self.message, &self.paused], &self.decisions)
    }

    /// Shares equal parts: in an outage each reconcile of a parent has the same result.
    pub(super) fn share_with(&mut self, last: &Self) {
        if self.decisions == last.decisions {
            self.decisions = last.decisions.clone();
        }
        if self.problems == last.problems {
            self.problems = last.problems.clone();
        }
        if self.message == last.message {
            self.message.clone_from(&last.message);
        }
        if self.paused == last.paused {
            self.paused.clone_from(&last.paused);
        }
        if self.outcome == last.outcome {
            self.outcome = last.outcome.clone();
        }
    }

    pub(super) fn bounded(mut self) -> Self {
        if let Outcome::Failed { message, .. } = &mut self.outcome {
            *message = bounded(message);
        }
        self.message = self.message.as_ref().map(bounded);
        self.paused = self.paused.as_ref().map(bounded);
        self.omitted += self.decisions.len().saturating_sub(MAX_DECISIONS);
        let kept = self.decisions.iter().take(MAX_DECISIONS);
        self.decisions = kept.cloned().map(Decision::bounded).collect();
        self.problems = self.problems.iter().cloned().map(Problem::bounded).collect();
        self.causes.shrink_to_fit();
        self
    }
}

fn bounded(text: &Arc<str>) -> Arc<str> {
    if text.len() <= MAX_TEXT {
        return text.clone();
    }
    wire::shortened(text.to_string(), MAX_TEXT).into()
}

impl Outcome {
    /// The names of all outcomes.
    pub(crate) const NAMES: [&str; 8] =
        ["ready", "synced", "wrote", "waiting", "paused", "finalized", "gone", "failed"];

    /// The outcome in one word, also as a metric label.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Synced => "synced",
            Self::Wrote => "wrote",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Finalized => "finalized",
            Self::Gone => "gone",
            Self::Failed { .. } => "failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        history::{Decided, Drift, ReconcileStep, Verb, WriteRecord},
        object::ResourceVersion,
    };

    fn reconcile(outcome: Outcome) -> Reconcile {
        Reconcile::new(SystemTime::UNIX_EPOCH, Duration::from_micros(1500), outcome)
    }

    #[test]
    fn a_reconcile_cannot_grow_without_bound() {
        let message = "ä".repeat(1_000_000).into();
        let mut huge = reconcile(Outcome::Failed { reason: FailureKind::HandlerFailed, message });
        let decision = |number: usize| Decision {
            paths: vec!["spec".to_owned(); 1000],
            ..Decision::stuck(number.to_string(), Decided::Failed, "x".repeat(100_000))
        };
        huge.decisions = (0..1000).map(decision).collect();
        huge.message = Some("x".repeat(1_000_000).into());
        let kept = huge.bounded();
        assert!(serde_json::to_string(&kept).unwrap().len() < 50 * 1024);
        assert_eq!((kept.decisions.len(), kept.omitted), (50, 950));
        assert!(kept.error().is_some_and(|message| message.ends_with("ä…")));
    }

    #[test]
    fn a_reconcile_is_serialized_without_empty_fields() {
        let outcome = Outcome::Failed { reason: FailureKind::Conflict, message: "no".into() };
        let mut shown = reconcile(outcome);
        shown.causes = vec![Cause::Retry];
        let write = |verb, drift| {
            Decision::from(WriteRecord { child: "Pod.v1 a".into(), verb, paths: vec![], drift })
        };
        let version = ResourceVersion::new;
        let (from, to, manager) = (version("4"), Some(version("5")), Some("hpa".to_owned()));
        shown.decisions = Arc::new([
            Decision::stuck("Pod.v1 b", Decided::Waiting, "it is being deleted".to_owned()),
            write(Verb::Created, None),
            write(Verb::Updated, Some(Box::new(Drift { manager, from, to }))),
        ]);
        shown.steps.add(ReconcileStep::Sync, Duration::from_micros(1400));
        let expected = json!({
            "number": 0, "started": "1970-01-01T00:00:00.000Z", "durationMilliseconds": 1.5,
            "causes": [{
                "reason": "Retry",
                "message": "the previous reconcile failed and its backoff has passed",
            }],
            "outcome": {"result": "Failed", "reason": "Conflict", "message": "no"},
            "decisions": [
                {"child": "Pod.v1 b", "decision": "Waiting", "why": "it is being deleted"},
                {"child": "Pod.v1 a", "decision": "Created"},
                {
                    "child": "Pod.v1 a", "decision": "Updated",
                    "drift": {"manager": "hpa", "from": "4", "to": "5"},
                },
            ],
            "unchanged": 0, "stepMilliseconds": {"sync": 1.4}, "wroteStatus": false,
        });
        assert_eq!(serde_json::to_value(shown).unwrap(), expected);
    }
}
