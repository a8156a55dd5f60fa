//! The status of a Job. The conditions that end it are written in two steps: the verdict at once, the end when all Pods
//! have ended and are counted.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{indexes, tracking::Tally, verdict::Verdict};
use crate::{
    clock::seconds,
    simulation::{
        condition,
        decision::Decision,
        object::is_deleting,
        readiness::{count, has_ended, is_active, is_ready, set_counts},
    },
};

/// What a status makes of a Job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Becomes {
    /// It continues.
    Nothing,
    /// It is complete.
    Complete,
    /// It has failed, with reason and message.
    Failed(&'static str, String),
}

/// Writes the status; `started` is the number of Pods that are being created.
pub(super) fn write(
    job: &Value,
    tally: &Tally<'_>,
    pods: &[&Value],
    (verdict, started): (&Verdict, i64),
    now: Timestamp,
    decision: &mut Decision,
) -> Becomes {
    let mut status = job["status"].clone();
    let active: Vec<&&Value> = pods.iter().filter(|pod| is_active(pod)).collect();
    let is_stopped = *verdict != Verdict::Continues;
    let running = if is_stopped { 0 } else { count(active.len()) + started };
    let terminating = pods.iter().filter(|pod| is_deleting(pod) && !has_ended(pod)).count();
    let terminating = if is_stopped { terminating + active.len() } else { terminating };
    let is_settled = tally.uncounted_succeeded.is_empty() && tally.uncounted_failed.is_empty();
    count_pods(job, tally, &mut status);
    let ready = active.iter().filter(|pod| is_ready(pod)).count();
    set_counts(&mut status, [("active", running)]);
    status["ready"] = json!(if is_stopped { 0 } else { ready });
    status["terminating"] = json!(terminating);
    set_start(job, verdict, &mut status, now);
    let is_over = is_settled && terminating == 0;
    let becomes = set_end(verdict, is_over, &mut status, now);
    decision.status(job, status);
    becomes
}

/// Counts, and names those that are not counted yet.
fn count_pods(job: &Value, tally: &Tally<'_>, status: &mut Value) {
    let uncounted = |uids: &std::collections::BTreeSet<&str>| count(uids.len());
    let is_indexed = job["spec"]["completionMode"] == "Indexed";
    let pending = if is_indexed { 0 } else { uncounted(&tally.uncounted_succeeded) };
    set_counts(
        status,
        [
            ("succeeded", tally.succeeded - pending),
            ("failed", tally.failed - uncounted(&tally.uncounted_failed)),
        ],
    );
    let mut named = json!({});
    for (field, uids) in
        [("succeeded", &tally.uncounted_succeeded), ("failed", &tally.uncounted_failed)]
    {
        if !uids.is_empty() {
            named[field] = json!(uids);
        }
    }
    status["uncountedTerminatedPods"] = named;
    if is_indexed && !tally.indexes.is_empty() {
        status["completedIndexes"] = json!(indexes::print(&tally.indexes));
    }
}

fn set_start(job: &Value, verdict: &Verdict, status: &mut Value, now: Timestamp) {
    let was_suspended = condition::find(status, "Suspended").is_some();
    if *verdict == Verdict::Suspended {
        condition::set(
            status,
            ("Suspended", "True", "JobSuspended", "Job suspended"),
            &["lastProbeTime"],
            now,
        );
        if let Some(status) = status.as_object_mut() {
            status.remove("startTime");
        }
        return;
    }
    if was_suspended && job["spec"]["suspend"] != true {
        condition::set(
            status,
            ("Suspended", "False", "JobResumed", "Job resumed"),
            &["lastProbeTime"],
            now,
        );
    }
    if status["startTime"].is_null() {
        status["startTime"] = json!(seconds(now));
    }
}

fn set_end(verdict: &Verdict, is_over: bool, status: &mut Value, now: Timestamp) -> Becomes {
    let mut set = |kind: &str, reason: &str, message: &str| {
        condition::set(status, (kind, "True", reason, message), &["lastProbeTime"], now);
    };
    match verdict {
        Verdict::Complete => {
            let (reason, message) =
                ("CompletionsReached", "Reached expected number of succeeded pods");
            set("SuccessCriteriaMet", reason, message);
            if is_over {
                set("Complete", reason, message);
                status["completionTime"] = json!(seconds(now));
                return Becomes::Complete;
            }
        }
        Verdict::Failed { reason, message } => {
            set("FailureTarget", reason, message);
            if is_over {
                set("Failed", reason, message);
                return Becomes::Failed(reason, message.to_string());
            }
        }
        Verdict::Continues | Verdict::Suspended => {}
    }
    Becomes::Nothing
}
