//! Counts Pods as workloads do: active, ready, available.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{
    condition,
    decision::Decision,
    object::{is_deleting, number, text, time},
};

/// Whether a Pod has ended.
pub(super) fn has_ended(pod: &Value) -> bool {
    matches!(text(&pod["status"]["phase"]), "Succeeded" | "Failed")
}

/// Whether a Pod counts as a replica.
pub(super) fn is_active(pod: &Value) -> bool {
    !has_ended(pod) && !is_deleting(pod)
}

/// Whether a Pod is ready.
pub(super) fn is_ready(pod: &Value) -> bool {
    condition::is_true(&pod["status"], "Ready")
}

/// Whether a Pod has been ready for the `minReadySeconds` of its workload; if it will be, looks again then.
pub(super) fn is_available(
    pod: &Value,
    workload: &Value,
    now: Timestamp,
    decision: &mut Decision,
) -> bool {
    let seconds = number(&workload["spec"]["minReadySeconds"]);
    if !is_ready(pod) || seconds == 0 {
        return is_ready(pod);
    }
    let since =
        condition::find(&pod["status"], "Ready").and_then(|it| time(&it["lastTransitionTime"]));
    let wait = SignedDuration::from_secs(seconds);
    since.is_some_and(|since| decision.has_passed(since, wait, now))
}

/// A count for a status.
pub(super) fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Sets counts of a status; those of 0 are left out, as Go leaves them out.
pub(super) fn set_counts<const N: usize>(status: &mut Value, counts: [(&str, i64); N]) {
    for (field, count) in counts {
        match status.as_object_mut() {
            Some(status) if count == 0 => {
                status.remove(field);
            }
            _ => status[field] = count.into(),
        }
    }
}
