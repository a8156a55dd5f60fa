//! What is shown of a Pod: how many containers are ready, in which state it is, how often containers were restarted.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::table::{age, cells::list};

/// Ready containers of all; init containers that go on running count too.
pub(super) fn ready_containers(pod: &Value, _: Timestamp) -> Value {
    let sidecars: Vec<&Value> = sidecars(pod).collect();
    let is_up = |status: &&Value| status["ready"] == true && status["started"] == true;
    let up = sidecars.iter().filter(|status| is_up(status)).count();
    let ready = list(&pod["status"]["containerStatuses"])
        .filter(|status| status["ready"] == true && !status["state"]["running"].is_null());
    let init = list(&pod["spec"]["initContainers"]).filter(|it| it["restartPolicy"] == "Always");
    let all = list(&pod["spec"]["containers"]).count() + init.count();
    json!(format!("{}/{all}", ready.count() + up))
}

/// The state of a Pod in a word: the phase, or why its containers do not run.
pub(super) fn status(pod: &Value, _: Timestamp) -> Value {
    let phase = pod["status"]["phase"].as_str().unwrap_or_default();
    if !pod["metadata"]["deletionTimestamp"].is_null() {
        if pod["status"]["reason"] == "NodeLost" {
            return json!("Unknown");
        }
        if !matches!(phase, "Succeeded" | "Failed") {
            return json!("Terminating");
        }
    }
    json!(initializing(pod).unwrap_or_else(|| of_containers(pod, phase)))
}

/// How often its containers were restarted, and when the last time.
pub(super) fn restarts(pod: &Value, now: Timestamp) -> Value {
    let all: Vec<&Value> = match initializing(pod) {
        Some(_) => list(&pod["status"]["initContainerStatuses"]).collect(),
        None => list(&pod["status"]["containerStatuses"]).chain(sidecars(pod)).collect(),
    };
    let count: i64 = all.iter().filter_map(|status| status["restartCount"].as_i64()).sum();
    let finished = |status: &Value| {
        let time = &status["lastState"]["terminated"]["finishedAt"];
        time.as_str().map(str::to_owned)
    };
    let last = all.iter().filter_map(|status| finished(status)).max();
    json!(match last.filter(|_| count > 0) {
        Some(last) => format!("{count} ({} ago)", age(&last, now)),
        None => count.to_string(),
    })
}

/// Why its init containers have not ended, if they have not.
fn initializing(pod: &Value) -> Option<String> {
    if has_condition(pod, "Initialized") {
        return None;
    }
    let specs: Vec<&Value> = list(&pod["spec"]["initContainers"]).collect();
    for (index, status) in list(&pod["status"]["initContainerStatuses"]).enumerate() {
        let (ended, waiting) =
            (&status["state"]["terminated"], &status["state"]["waiting"]["reason"]);
        let is_sidecar = specs
            .iter()
            .any(|spec| spec["name"] == status["name"] && spec["restartPolicy"] == "Always");
        if !ended.is_null() && exit_code(ended) == 0 || is_sidecar && status["started"] == true {
            continue;
        }
        return Some(match (ended.is_null(), waiting.as_str()) {
            (false, _) => format!("Init:{}", reason_of(ended)),
            (true, Some(waiting)) if waiting != "PodInitializing" => format!("Init:{waiting}"),
            _ => format!("Init:{index}/{}", specs.len()),
        });
    }
    None
}

/// Why its containers do not run; the first of them that says something.
fn of_containers(pod: &Value, phase: &str) -> String {
    let is_gated = list(&pod["status"]["conditions"]).any(|condition| {
        condition["type"] == "PodScheduled" && condition["reason"] == "SchedulingGated"
    });
    let given = pod["status"]["reason"].as_str().unwrap_or(phase);
    let mut reason = if is_gated { "SchedulingGated" } else { given }.to_owned();
    let (mut runs, mut failure) = (false, None);
    let statuses: Vec<&Value> = list(&pod["status"]["containerStatuses"]).collect();
    for status in statuses.into_iter().rev() {
        let state = &status["state"];
        if let Some(waiting) = state["waiting"]["reason"].as_str() {
            waiting.clone_into(&mut reason);
        } else if !state["terminated"].is_null() {
            reason = reason_of(&state["terminated"]);
            if exit_code(&state["terminated"]) != 0 {
                failure = Some(reason.clone());
            }
        } else if status["ready"] == true && !state["running"].is_null() {
            runs = true;
        }
    }
    match (reason.as_str(), runs, failure) {
        ("Completed", true, _) if has_condition(pod, "Ready") => "Running".to_owned(),
        ("Completed", _, Some(failure)) => failure,
        ("Completed", true, None) => "NotReady".to_owned(),
        _ => reason,
    }
}

fn reason_of(ended: &Value) -> String {
    match (ended["reason"].as_str(), ended["signal"].as_i64()) {
        (Some(reason), _) if !reason.is_empty() => reason.to_owned(),
        (_, Some(signal)) if signal != 0 => format!("Signal:{signal}"),
        _ => format!("ExitCode:{}", exit_code(ended)),
    }
}

fn exit_code(ended: &Value) -> i64 {
    ended["exitCode"].as_i64().unwrap_or_default()
}

fn sidecars(pod: &Value) -> impl Iterator<Item = &Value> {
    let is_sidecar = |status: &&Value| {
        let mut specs = list(&pod["spec"]["initContainers"]);
        specs.any(|spec| spec["name"] == status["name"] && spec["restartPolicy"] == "Always")
    };
    list(&pod["status"]["initContainerStatuses"]).filter(is_sidecar)
}

fn has_condition(pod: &Value, kind: &str) -> bool {
    let mut conditions = list(&pod["status"]["conditions"]);
    conditions.any(|condition| condition["type"] == kind && condition["status"] == "True")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_pod_is_that_of_its_containers() {
        let running = json!({ "ready": true, "state": { "running": {} } });
        let ended = |code: i64, reason: &str| json!({ "state": { "terminated": { "exitCode": code, "reason": reason } } });
        let waiting = json!({ "state": { "waiting": { "reason": "CrashLoopBackOff" } } });
        for (phase, containers, expected) in [
            ("Pending", vec![], "Pending"),
            ("Running", vec![running.clone()], "Running"),
            ("Running", vec![running.clone(), waiting.clone()], "CrashLoopBackOff"),
            ("Running", vec![running, ended(0, "Completed")], "NotReady"),
            ("Succeeded", vec![ended(0, "Completed")], "Completed"),
            ("Failed", vec![ended(0, "Completed"), ended(1, "Error")], "Error"),
            ("Failed", vec![ended(7, "")], "ExitCode:7"),
        ] {
            let pod = json!({ "status": { "phase": phase, "containerStatuses": containers } });
            assert_eq!(status(&pod, Timestamp::UNIX_EPOCH), expected, "{phase} {containers:?}");
        }
    }
}
