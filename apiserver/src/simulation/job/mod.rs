//! A Job runs Pods until enough of them have succeeded, or too many have failed.
//!
//! ```text
//!  decide ─ tracking (which Pods ended, each counted once) ─ verdict (complete, failed, suspended) ─ pods ─ status
//! ```
//!
//! Not imitated: `successPolicy`, `backoffLimitPerIndex` and with it the action `FailIndex` of a `podFailurePolicy`.

mod indexes;
mod policy;
mod starting;
mod status;
mod tracking;
mod verdict;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use self::{tracking::Tally, verdict::Verdict};
use super::{
    condition,
    decision::Decision,
    object::{is_deleting, name, time},
    ownership,
    readiness::is_active,
};

pub(super) use self::tracking::{FINALIZER, release};

const SOURCE: &str = "simulated-job-controller";

/// Decides about a Job; `pods` are its Pods and those without a controller.
pub(super) fn decide(job: &Value, pods: &[Value], now: Timestamp) -> Decision {
    let mut decision = Decision::default();
    if job["spec"]["managedBy"].as_str().is_some_and(|it| it != "kubernetes.io/job-controller") {
        return decision;
    }
    let own = ownership::controlled(job, pods, &mut decision);
    if let Some(finished) = finish_time(job) {
        tracking::release_all(&own, &mut decision);
        delete_when_due(job, finished, now, &mut decision);
        return decision;
    }
    if is_deleting(job) {
        tracking::release_all(&own, &mut decision);
        return decision;
    }
    let tally = Tally::of(job, &own);
    tracking::release_counted(&tally, &mut decision);
    let verdict = Verdict::of(job, &tally, &own, now, &mut decision);
    let active: Vec<&Value> = own.iter().copied().filter(|pod| is_active(pod)).collect();
    let started = match verdict {
        Verdict::Continues => starting::start(job, &tally, &active, &own, now, &mut decision),
        Verdict::Suspended | Verdict::Complete | Verdict::Failed { .. } => {
            for pod in &active {
                decision.delete(pod);
                let message = format!("Deleted pod: {}", name(pod));
                decision.record(job, SOURCE, "SuccessfulDelete", message);
            }
            0
        }
    };
    let becomes = status::write(job, &tally, &own, (&verdict, started), now, &mut decision);
    match becomes {
        status::Becomes::Complete => decision.record(job, SOURCE, "Completed", "Job completed"),
        status::Becomes::Failed(reason, message) => decision.warn(job, SOURCE, reason, message),
        status::Becomes::Nothing => {}
    }
    decision
}

/// When a Job finished, if it did.
pub(super) fn finish_time(job: &Value) -> Option<Timestamp> {
    let finished =
        ["Complete", "Failed"].into_iter().find(|it| condition::is_true(&job["status"], it))?;
    time(&condition::find(&job["status"], finished)?["lastTransitionTime"])
}

fn delete_when_due(job: &Value, finished: Timestamp, now: Timestamp, decision: &mut Decision) {
    let Some(seconds) = job["spec"]["ttlSecondsAfterFinished"].as_i64() else { return };
    let is_due = decision.has_passed(finished, SignedDuration::from_secs(seconds), now);
    if is_due && !is_deleting(job) {
        decision.delete(job);
    }
}
