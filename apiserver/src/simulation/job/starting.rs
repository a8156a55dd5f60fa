//! Starts the Pods of a Job that are missing, and deletes those that are too many.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    indexes::{self, INDEX},
    tracking::{FINALIZER, Tally},
};
use crate::simulation::{
    decision::Decision,
    object::{age, is_deleting, items, name, number, text, time},
    readiness::count,
    template,
};

const SOURCE: &str = "simulated-job-controller";

/// Starts Pods; returns how many.
pub(super) fn start(
    job: &Value,
    tally: &Tally<'_>,
    active: &[&Value],
    pods: &[&Value],
    now: Timestamp,
    decision: &mut Decision,
) -> i64 {
    let parallelism = job["spec"]["parallelism"].as_i64().unwrap_or(1);
    let present = i64::try_from(active.len()).unwrap_or(i64::MAX);
    let wanted = match job["spec"]["completions"].as_i64() {
        Some(completions) => (completions - tally.succeeded).min(parallelism),
        None if tally.succeeded > 0 => present.min(parallelism),
        None => parallelism,
    };
    let mut surplus = active.to_vec();
    surplus.sort_by_key(|pod| std::cmp::Reverse(age(pod)));
    for pod in surplus.iter().take(usize::try_from(present - wanted).unwrap_or_default()) {
        decision.delete(pod);
    }
    let replaces_failed_only = job["spec"]["podReplacementPolicy"] == "Failed";
    let waits = replaces_failed_only && pods.iter().any(|pod| is_deleting(pod));
    let missing = (wanted - present).max(0);
    if missing == 0 || waits || !has_backed_off(tally, pods, now, decision) {
        return 0;
    }
    let free = free_indexes(job, tally, active);
    for number in 0..missing {
        let index = usize::try_from(number).ok().and_then(|it| free.get(it)).copied();
        if job["spec"]["completionMode"] != "Indexed" {
            decision.spawn(job, SOURCE, pod(job, None));
        } else if index.is_some() {
            decision.spawn(job, SOURCE, pod(job, index));
        }
    }
    missing
}

/// After failures a Job waits: 10 s, doubled with each, up to 10 minutes.
fn has_backed_off(
    tally: &Tally<'_>,
    pods: &[&Value],
    now: Timestamp,
    decision: &mut Decision,
) -> bool {
    let failed = || pods.iter().filter(|pod| pod["status"]["phase"] == "Failed");
    let last = failed().filter_map(|pod| finished(pod)).max();
    // Those that a policy ignores are only among the Pods.
    let failures = tally.failed.max(count(failed().count()));
    let Some(last) = last.filter(|_| failures > 0) else { return true };
    let doubled = u32::try_from((failures - 1).clamp(0, 6)).unwrap_or_default();
    let wait = SignedDuration::from_secs((10 * 2_i64.pow(doubled)).min(600));
    decision.has_passed(last, wait, now)
}

fn finished(pod: &Value) -> Option<Timestamp> {
    let containers = items(&pod["status"]["containerStatuses"]);
    containers.filter_map(|it| time(&it["state"]["terminated"]["finishedAt"])).max()
}

fn free_indexes(job: &Value, tally: &Tally<'_>, active: &[&Value]) -> Vec<i64> {
    let completions = number(&job["spec"]["completions"]);
    let is_free = |index: &i64| {
        !tally.indexes.contains(index) && !active.iter().any(|pod| indexes::of(pod) == Some(*index))
    };
    (0..completions).filter(is_free).collect()
}

fn pod(job: &Value, index: Option<i64>) -> Value {
    let mut pod = template::pod(job, &job["spec"]["template"]);
    let mut finalizers: Vec<Value> = items(&pod["metadata"]["finalizers"]).cloned().collect();
    finalizers.push(json!(FINALIZER));
    pod["metadata"]["finalizers"] = json!(finalizers);
    if let Some(index) = index {
        pod["metadata"]["generateName"] = json!(format!("{}-{index}-", name(job)));
        pod["metadata"]["annotations"][INDEX] = json!(index.to_string());
        pod["metadata"]["labels"][INDEX] = json!(index.to_string());
        if text(&pod["spec"]["hostname"]).is_empty() {
            pod["spec"]["hostname"] = json!(format!("{}-{index}", name(job)));
        }
        let containers = pod["spec"]["containers"].as_array_mut().into_iter().flatten();
        for container in containers {
            let variable = json!({ "name": "JOB_COMPLETION_INDEX", "value": index.to_string() });
            let mut variables: Vec<Value> = items(&container["env"]).cloned().collect();
            variables.push(variable);
            container["env"] = json!(variables);
        }
    }
    pod
}
