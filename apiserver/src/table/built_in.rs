//! The columns of built-in types, as the real server has them for those that are looked at most.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::age;

/// Heading, type, priority, and the way to the cell.
pub(super) type BuiltInColumn = (&'static str, &'static str, i64, fn(&Value, Timestamp) -> Value);

const AGE: BuiltInColumn = ("Age", "string", 0, created);

/// The columns of a type, after its name.
pub(super) fn columns(group: &str, plural: &str) -> &'static [BuiltInColumn] {
    match (group, plural) {
        ("", "pods") => &[
            ("Ready", "string", 0, ready_containers),
            ("Status", "string", 0, pod_status),
            ("Restarts", "string", 0, restarts),
            AGE,
            ("IP", "string", 1, |o, _| or_none(&o["status"]["podIP"])),
            ("Node", "string", 1, |o, _| or_none(&o["spec"]["nodeName"])),
            ("Nominated Node", "string", 1, |o, _| or_none(&o["status"]["nominatedNodeName"])),
            ("Readiness Gates", "string", 1, readiness_gates),
        ],
        ("", "services") => &[
            ("Type", "string", 0, |o, _| o["spec"]["type"].clone()),
            ("Cluster-IP", "string", 0, |o, _| or_none(&o["spec"]["clusterIP"])),
            ("External-IP", "string", 0, |_, _| json!("<none>")),
            ("Port(s)", "string", 0, ports),
            AGE,
            ("Selector", "string", 1, |o, _| labels(&o["spec"]["selector"])),
        ],
        ("", "namespaces") => &[("Status", "string", 0, |o, _| o["status"]["phase"].clone()), AGE],
        ("", "configmaps") => &[("Data", "integer", 0, data), AGE],
        ("", "secrets") => {
            &[("Type", "string", 0, |o, _| o["type"].clone()), ("Data", "integer", 0, data), AGE]
        }
        ("apps", "deployments") => &[
            ("Ready", "string", 0, ready_replicas),
            ("Up-to-date", "string", 0, |o, _| number(&o["status"]["updatedReplicas"])),
            ("Available", "string", 0, |o, _| number(&o["status"]["availableReplicas"])),
            AGE,
            ("Containers", "string", 1, |o, _| of_containers(o, "name")),
            ("Images", "string", 1, |o, _| of_containers(o, "image")),
            ("Selector", "string", 1, |o, _| labels(&o["spec"]["selector"]["matchLabels"])),
        ],
        ("apiextensions.k8s.io", "customresourcedefinitions") => {
            &[("Created At", "date", 0, |o, _| o["metadata"]["creationTimestamp"].clone())]
        }
        _ => &[AGE],
    }
}

/// The name.
pub(super) fn name(object: &Value, _: Timestamp) -> Value {
    object["metadata"]["name"].clone()
}

fn created(object: &Value, now: Timestamp) -> Value {
    match object["metadata"]["creationTimestamp"].as_str() {
        Some(time) => json!(age(time, now)),
        None => json!("<unknown>"),
    }
}

fn or_none(value: &Value) -> Value {
    json!(value.as_str().filter(|text| !text.is_empty()).unwrap_or("<none>"))
}

fn number(value: &Value) -> Value {
    json!(value.as_i64().unwrap_or_default())
}

fn count(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

fn data(object: &Value, _: Timestamp) -> Value {
    let entries = |field: &str| object[field].as_object().map_or(0, serde_json::Map::len);
    json!(entries("data") + entries("binaryData"))
}

fn ready_replicas(object: &Value, _: Timestamp) -> Value {
    let ready = object["status"]["readyReplicas"].as_i64().unwrap_or_default();
    json!(format!("{ready}/{}", object["spec"]["replicas"].as_i64().unwrap_or_default()))
}

fn ready_containers(object: &Value, _: Timestamp) -> Value {
    let statuses = object["status"]["containerStatuses"].as_array();
    let ready = statuses.into_iter().flatten().filter(|status| status["ready"] == true).count();
    json!(format!("{ready}/{}", count(&object["spec"]["containers"])))
}

fn readiness_gates(object: &Value, _: Timestamp) -> Value {
    let gates = count(&object["spec"]["readinessGates"]);
    if gates == 0 {
        return json!("<none>");
    }
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    let is_true = |ty: &Value| {
        conditions
            .clone()
            .any(|condition| condition["type"] == *ty && condition["status"] == "True")
    };
    let all = object["spec"]["readinessGates"].as_array().into_iter().flatten();
    let met = all.filter(|gate| is_true(&gate["conditionType"])).count();
    json!(format!("{met}/{gates}"))
}

fn labels(labels: &Value) -> Value {
    let labels = labels.as_object().into_iter().flatten();
    let labels = labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
    joined_or_none(&labels.collect::<Vec<_>>())
}

fn of_containers(object: &Value, field: &str) -> Value {
    let containers = object["spec"]["template"]["spec"]["containers"].as_array();
    let fields = containers.into_iter().flatten().filter_map(|c| c[field].as_str());
    json!(fields.collect::<Vec<_>>().join(","))
}

fn joined_or_none(parts: &[String]) -> Value {
    if parts.is_empty() { json!("<none>") } else { json!(parts.join(",")) }
}

fn pod_status(object: &Value, _: Timestamp) -> Value {
    if !object["metadata"]["deletionTimestamp"].is_null() {
        return json!("Terminating");
    }
    match object["status"]["reason"].as_str() {
        Some(reason) => json!(reason),
        None => object["status"]["phase"].clone(),
    }
}

fn restarts(object: &Value, _: Timestamp) -> Value {
    let statuses = object["status"]["containerStatuses"].as_array();
    let restarts = statuses.into_iter().flatten().filter_map(|s| s["restartCount"].as_i64());
    json!(restarts.sum::<i64>().to_string())
}

fn ports(object: &Value, _: Timestamp) -> Value {
    let ports = object["spec"]["ports"].as_array().into_iter().flatten().map(|port| {
        let protocol = port["protocol"].as_str().unwrap_or("TCP");
        match port["nodePort"].as_i64().filter(|node| *node != 0) {
            Some(node) => format!("{}:{node}/{protocol}", port["port"]),
            None => format!("{}/{protocol}", port["port"]),
        }
    });
    joined_or_none(&ports.collect::<Vec<_>>())
}
