//! Counts each Pod of a Job once, also if it is deleted: a finalizer holds it until it is counted.
//!
//! ```text
//!  ended, with finalizer ─> named as uncounted ─> finalizer removed ─> counted
//! ```

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{indexes, policy::Failure};
use crate::simulation::{
    decision::Decision,
    object::{is_deleting, items, number, text, uid},
};

/// Holds Pods that are not counted yet.
pub(in crate::simulation) const FINALIZER: &str = "batch.kubernetes.io/job-tracking";

/// What the Pods of a Job come to.
#[derive(Debug, Default)]
pub(super) struct Tally<'a> {
    /// How many succeeded, those included that are not counted yet.
    pub succeeded: i64,
    /// How many failed, those included that are not counted yet.
    pub failed: i64,
    /// The uids of those that succeeded and are not counted yet.
    pub uncounted_succeeded: BTreeSet<&'a str>,
    /// The uids of those that failed and are not counted yet.
    pub uncounted_failed: BTreeSet<&'a str>,
    /// Those that are named as uncounted already or never counted, and may go.
    pub named: Vec<&'a Value>,
    /// The indexes that succeeded.
    pub indexes: BTreeSet<i64>,
}

impl<'a> Tally<'a> {
    /// Counts.
    pub(super) fn of(job: &'a Value, pods: &[&'a Value]) -> Self {
        let status = &job["status"];
        let named = |field: &str| -> BTreeSet<&str> {
            items(&status["uncountedTerminatedPods"][field]).map(text).collect()
        };
        let (named_succeeded, named_failed) = (named("succeeded"), named("failed"));
        let is_indexed = job["spec"]["completionMode"] == "Indexed";
        let mut tally = Self {
            // What was named before is counted when its Pod has no finalizer any more; the number is the same.
            succeeded: number(&status["succeeded"]) + count(&named_succeeded),
            failed: number(&status["failed"]) + count(&named_failed),
            indexes: indexes::parse(text(&status["completedIndexes"])),
            ..Self::default()
        };
        for pod in pods.iter().copied().filter(|pod| is_held(pod)) {
            let (uid, outcome) = (uid(pod), Outcome::of(job, pod));
            if named_succeeded.contains(uid) || named_failed.contains(uid) {
                tally.named.push(pod);
            }
            match outcome {
                Outcome::Runs => {}
                Outcome::Ignored => tally.named.push(pod),
                Outcome::Succeeded => {
                    tally.succeeded += i64::from(!named_succeeded.contains(uid));
                    tally.uncounted_succeeded.insert(uid);
                    tally.indexes.extend(indexes::of(pod));
                }
                Outcome::Failed => {
                    tally.failed += i64::from(!named_failed.contains(uid));
                    tally.uncounted_failed.insert(uid);
                }
            }
        }
        if is_indexed {
            tally.succeeded = count(&tally.indexes);
        }
        tally
    }
}

/// What became of a Pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Runs,
    Succeeded,
    Failed,
    /// It failed, and the policy of the Job does not count it.
    Ignored,
}

impl Outcome {
    fn of(job: &Value, pod: &Value) -> Self {
        match text(&pod["status"]["phase"]) {
            "Succeeded" => Self::Succeeded,
            _ if !has_failed(pod) => Self::Runs,
            _ if Failure::of(job, pod) == Failure::Ignored => Self::Ignored,
            _ => Self::Failed,
        }
    }
}

/// Whether a Pod has failed, or does not come to an end of its own.
pub(super) fn has_failed(pod: &Value) -> bool {
    match text(&pod["status"]["phase"]) {
        "Failed" => true,
        "Succeeded" => false,
        _ => is_deleting(pod),
    }
}

/// Lets go the Pods that the status names as uncounted.
pub(super) fn release_counted(tally: &Tally<'_>, decision: &mut Decision) {
    release_all(&tally.named, decision);
}

/// Lets Pods go.
pub(super) fn release_all(pods: &[&Value], decision: &mut Decision) {
    pods.iter().filter(|pod| is_held(pod)).for_each(|pod| release(pod, decision));
}

/// Lets a Pod go.
pub(in crate::simulation) fn release(pod: &Value, decision: &mut Decision) {
    let others: Vec<&Value> =
        items(&pod["metadata"]["finalizers"]).filter(|it| **it != *FINALIZER).collect();
    let finalizers = if others.is_empty() { Value::Null } else { json!(others) };
    decision.patch(pod, json!({ "metadata": { "finalizers": finalizers } }));
}

fn is_held(pod: &Value) -> bool {
    items(&pod["metadata"]["finalizers"]).any(|finalizer| finalizer == FINALIZER)
}

fn count<T>(set: &BTreeSet<T>) -> i64 {
    i64::try_from(set.len()).unwrap_or(i64::MAX)
}
