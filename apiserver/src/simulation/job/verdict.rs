//! Whether a Job continues.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{
    policy::Failure,
    tracking::{Tally, has_failed},
};
use crate::simulation::{
    condition,
    decision::Decision,
    object::{items, number, text, time},
    readiness::is_active,
};

const POLICY: &str = "PodFailurePolicy";
const LIMIT: &str = "Job has reached the specified backoff limit";
const DEADLINE: &str = "Job was active longer than specified deadline";

/// Whether a Job continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It runs.
    Continues,
    /// It rests until it is resumed.
    Suspended,
    /// Enough Pods have succeeded.
    Complete,
    /// It does not go on.
    Failed {
        /// Why, in a word.
        reason: &'static str,
        /// Why.
        message: Cow<'static, str>,
    },
}

impl Verdict {
    /// Decides.
    pub(super) fn of(
        job: &Value,
        tally: &Tally<'_>,
        pods: &[&Value],
        now: Timestamp,
        decision: &mut Decision,
    ) -> Self {
        let spec = &job["spec"];
        if let Some(failure) = Self::before(job) {
            return failure;
        }
        if let Some(message) = Self::by_policy(job, pods) {
            return Self::Failed { reason: POLICY, message: message.into() };
        }
        if tally.failed + restarts(job, pods) > spec["backoffLimit"].as_i64().unwrap_or(6) {
            return Self::Failed { reason: "BackoffLimitExceeded", message: LIMIT.into() };
        }
        if is_complete(job, tally, pods) {
            return Self::Complete;
        }
        if spec["suspend"] == true {
            return Self::Suspended;
        }
        let limit = spec["activeDeadlineSeconds"].as_i64().map(SignedDuration::from_secs);
        let started = time(&job["status"]["startTime"]);
        let is_overdue = started
            .zip(limit)
            .is_some_and(|(started, limit)| decision.has_passed(started, limit, now));
        if is_overdue {
            return Self::Failed { reason: "DeadlineExceeded", message: DEADLINE.into() };
        }
        Self::Continues
    }

    /// What was decided before is not decided again.
    fn before(job: &Value) -> Option<Self> {
        let found = condition::find(&job["status"], "FailureTarget")?;
        let (reason, message) = match text(&found["reason"]) {
            "DeadlineExceeded" => ("DeadlineExceeded", DEADLINE.into()),
            POLICY => (POLICY, text(&found["message"]).to_owned().into()),
            _ => ("BackoffLimitExceeded", LIMIT.into()),
        };
        Some(Self::Failed { reason, message })
    }

    /// Why the policy fails the Job, if it does.
    fn by_policy(job: &Value, pods: &[&Value]) -> Option<String> {
        if condition::is_true(&job["status"], "SuccessCriteriaMet") {
            return None;
        }
        let mut failed = pods.iter().filter(|pod| has_failed(pod));
        failed.find_map(|pod| match Failure::of(job, pod) {
            Failure::FailsJob(message) => Some(message),
            Failure::Counts | Failure::Ignored => None,
        })
    }
}

fn is_complete(job: &Value, tally: &Tally<'_>, pods: &[&Value]) -> bool {
    if condition::is_true(&job["status"], "SuccessCriteriaMet") {
        return true;
    }
    match job["spec"]["completions"].as_i64() {
        Some(wanted) => tally.succeeded >= wanted,
        // A queue of work: the first Pod that succeeds ends it, and the others finish.
        None => tally.succeeded > 0 && !pods.iter().any(|pod| is_active(pod)),
    }
}

/// Containers that are restarted in place count as failures.
fn restarts(job: &Value, pods: &[&Value]) -> i64 {
    if job["spec"]["template"]["spec"]["restartPolicy"] != "OnFailure" {
        return 0;
    }
    let active = pods.iter().filter(|pod| is_active(pod));
    let containers = active.flat_map(|pod| items(&pod["status"]["containerStatuses"]));
    containers.map(|container| number(&container["restartCount"])).sum()
}
