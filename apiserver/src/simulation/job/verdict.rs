//! Whether a Job continues.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::tracking::Tally;
use crate::simulation::{
    condition,
    decision::Decision,
    object::{items, number, text, time},
    readiness::is_active,
};

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
        message: &'static str,
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
        if tally.failed + restarts(job, pods) > spec["backoffLimit"].as_i64().unwrap_or(6) {
            let message = "Job has reached the specified backoff limit";
            return Self::Failed { reason: "BackoffLimitExceeded", message };
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
            let message = "Job was active longer than specified deadline";
            return Self::Failed { reason: "DeadlineExceeded", message };
        }
        Self::Continues
    }

    /// What was decided before is not decided again.
    fn before(job: &Value) -> Option<Self> {
        let found = condition::find(&job["status"], "FailureTarget")?;
        let (reason, message) = match text(&found["reason"]) {
            "DeadlineExceeded" => {
                ("DeadlineExceeded", "Job was active longer than specified deadline")
            }
            _ => ("BackoffLimitExceeded", "Job has reached the specified backoff limit"),
        };
        Some(Self::Failed { reason, message })
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
