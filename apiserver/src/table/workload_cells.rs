//! The cells of pods and workloads.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    age,
    cells::{joined, labels, list, number},
};

pub(super) fn containers(object: &Value, _: Timestamp) -> Value {
    of_containers(object, "name")
}

pub(super) fn images(object: &Value, _: Timestamp) -> Value {
    of_containers(object, "image")
}

fn of_containers(object: &Value, field: &str) -> Value {
    let containers = list(&object["spec"]["template"]["spec"]["containers"]);
    joined(&containers.filter_map(|c| c[field].as_str()).collect::<Vec<&str>>())
}

pub(super) fn selector(object: &Value, _: Timestamp) -> Value {
    labels(&object["spec"]["selector"]["matchLabels"])
}

pub(super) fn ready_replicas(object: &Value, _: Timestamp) -> Value {
    let (ready, wanted) = (&object["status"]["readyReplicas"], &object["spec"]["replicas"]);
    json!(format!("{}/{}", number(ready), number(wanted)))
}

pub(super) fn ready_containers(pod: &Value, _: Timestamp) -> Value {
    let statuses = list(&pod["status"]["containerStatuses"]);
    let ready = statuses.filter(|status| status["ready"] == true).count();
    json!(format!("{ready}/{}", list(&pod["spec"]["containers"]).count()))
}

pub(super) fn pod_status(pod: &Value, _: Timestamp) -> Value {
    if !pod["metadata"]["deletionTimestamp"].is_null() {
        return json!("Terminating");
    }
    let waiting = list(&pod["status"]["containerStatuses"])
        .find_map(|status| status["state"]["waiting"]["reason"].as_str());
    match waiting.or(pod["status"]["reason"].as_str()) {
        Some(reason) => json!(reason),
        None => pod["status"]["phase"].clone(),
    }
}

pub(super) fn restarts(pod: &Value, _: Timestamp) -> Value {
    let statuses = list(&pod["status"]["containerStatuses"]);
    let restarts: i64 = statuses.filter_map(|status| status["restartCount"].as_i64()).sum();
    json!(restarts.to_string())
}

pub(super) fn readiness_gates(pod: &Value, _: Timestamp) -> Value {
    let gates: Vec<&Value> = list(&pod["spec"]["readinessGates"]).collect();
    if gates.is_empty() {
        return json!("<none>");
    }
    let open = |gate: &&&Value| {
        let mut conditions = list(&pod["status"]["conditions"]);
        conditions.any(|c| c["type"] == gate["conditionType"] && c["status"] == "True")
    };
    json!(format!("{}/{}", gates.iter().filter(open).count(), gates.len()))
}

pub(super) fn job_status(job: &Value, _: Timestamp) -> Value {
    let has = |kind: &str| {
        let mut conditions = list(&job["status"]["conditions"]);
        conditions.any(|condition| condition["type"] == kind && condition["status"] == "True")
    };
    let deleting = !job["metadata"]["deletionTimestamp"].is_null();
    let states = [
        (has("Complete"), "Complete"),
        (has("Failed"), "Failed"),
        (deleting, "Terminating"),
        (has("Suspended"), "Suspended"),
        (has("FailureTarget"), "FailureTarget"),
        (has("SuccessCriteriaMet"), "SuccessCriteriaMet"),
    ];
    let state = states.into_iter().find(|(is, _)| *is);
    json!(state.map_or("Running", |(_, state)| state))
}

pub(super) fn completions(job: &Value, _: Timestamp) -> Value {
    let succeeded = number(&job["status"]["succeeded"]);
    let parallelism = job["spec"]["parallelism"].as_i64().unwrap_or_default();
    json!(match job["spec"]["completions"].as_i64() {
        Some(wanted) => format!("{succeeded}/{wanted}"),
        None if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        None => format!("{succeeded}/1"),
    })
}

pub(super) fn job_duration(job: &Value, now: Timestamp) -> Value {
    let Some(start) = job["status"]["startTime"].as_str() else { return json!("") };
    let end = job["status"]["completionTime"].as_str().and_then(|end| end.parse().ok());
    json!(age(start, end.unwrap_or(now)))
}
