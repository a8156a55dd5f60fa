//! What is written through `/status`: counters that make sense, and addresses.
//!
//! Conditions are checked for pods only; of the state machine of a Job only that its failures never
//! become fewer.

use serde_json::{Value, json};

use super::{number, status_address};
use crate::{
    builtin::{catalog::BuiltinType, path, quantity::Quantity},
    schema::{FieldError, FieldPath},
};

/// The counters of a type that cannot be negative, in the order of the real server.
const COUNTERS: &[(&str, &[&str])] = &[
    (
        "Deployment",
        &[
            "observedGeneration",
            "replicas",
            "updatedReplicas",
            "readyReplicas",
            "availableReplicas",
            "unavailableReplicas",
            "terminatingReplicas",
            "collisionCount",
        ],
    ),
    (
        "ReplicaSet",
        &[
            "replicas",
            "fullyLabeledReplicas",
            "readyReplicas",
            "availableReplicas",
            "observedGeneration",
            "terminatingReplicas",
        ],
    ),
    (
        "StatefulSet",
        &[
            "replicas",
            "readyReplicas",
            "currentReplicas",
            "updatedReplicas",
            "availableReplicas",
            "observedGeneration",
            "collisionCount",
        ],
    ),
    (
        "DaemonSet",
        &[
            "currentNumberScheduled",
            "numberMisscheduled",
            "desiredNumberScheduled",
            "numberReady",
            "observedGeneration",
            "updatedNumberScheduled",
            "numberAvailable",
            "numberUnavailable",
            "collisionCount",
        ],
    ),
    ("Job", &["active", "ready", "succeeded", "failed", "terminating"]),
    ("HorizontalPodAutoscaler", &["currentReplicas", "desiredReplicas"]),
];

/// Why a status is refused; empty when it is not.
pub(super) fn check(ty: &BuiltinType, new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (status, at) = (&new["status"], FieldPath::new("status"));
    let counters = COUNTERS.iter().find(|(kind, _)| *kind == ty.kind);
    for field in counters.into_iter().flat_map(|(_, fields)| *fields) {
        number::not_negative(status, field, &at, &mut errors);
    }
    match ty.kind {
        "Deployment" => {
            replicas(status, &["updatedReplicas"], "readyReplicas", &at, &mut errors);
        }
        "ReplicaSet" => {
            replicas(status, &["fullyLabeledReplicas"], "readyReplicas", &at, &mut errors);
        }
        "StatefulSet" => stateful_set(status, &at, &mut errors),
        "Job" => job(status, &old["status"], &at, &mut errors),
        "Pod" => status_address::pod(new, old, &mut errors),
        "Node" => status_address::node(status, &at, &mut errors),
        "Namespace" => namespace(new, &mut errors),
        "Service" => status_address::service(new, &mut errors),
        "PersistentVolumeClaim" => capacity(status, &at, &mut errors),
        "Ingress" => status_address::ingress(new, &mut errors),
        _ => {}
    }
    if matches!(ty.kind, "Deployment" | "StatefulSet" | "DaemonSet") {
        collisions(status, &old["status"], &at, &mut errors);
    }
    errors
}

fn count(status: &Value, field: &str) -> i64 {
    path::number(status, field).unwrap_or_default()
}

fn not_greater(
    status: &Value,
    field: &str,
    limit: &str,
    detail: &str,
    at: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let found = count(status, field);
    if found > count(status, limit) {
        errors.push(FieldError::invalid(&at.child(field), &json!(found), detail));
    }
}

fn replicas(
    status: &Value,
    first: &[&str],
    ready: &str,
    at: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let detail = "cannot be greater than status.replicas";
    for field in first.iter().chain(&[ready, "availableReplicas"]) {
        not_greater(status, field, "replicas", detail, at, errors);
    }
    let detail = "cannot be greater than readyReplicas";
    not_greater(status, "availableReplicas", ready, detail, at, errors);
}

fn stateful_set(status: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let detail = "cannot be greater than status.replicas";
    for field in ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"] {
        not_greater(status, field, "replicas", detail, at, errors);
    }
    let detail = "cannot be greater than status.readyReplicas";
    not_greater(status, "availableReplicas", "readyReplicas", detail, at, errors);
}

fn collisions(status: &Value, old: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let Some(before) = path::number(old, "collisionCount") else { return };
    let now = path::number(status, "collisionCount");
    if now.is_none_or(|now| now < before) {
        let value = json!(now.unwrap_or_default());
        let at = at.child("collisionCount");
        errors.push(FieldError::invalid(&at, &value, "cannot be decremented"));
    }
}

fn job(status: &Value, old: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    if status.get("ready").is_some() {
        let detail = "cannot set more ready pods than active";
        not_greater(status, "ready", "active", detail, at, errors);
    }
    let at_pods = at.child("uncountedTerminatedPods");
    for list in ["succeeded", "failed"] {
        let pods = path::list(&status["uncountedTerminatedPods"], list);
        for (index, pod) in pods.iter().enumerate() {
            let at = at_pods.child(list).index(index);
            if pod == "" {
                errors.push(FieldError::invalid(&at, pod, "must not be empty"));
            } else if pods[..index].contains(pod) {
                errors.push(FieldError::duplicate(&at, pod));
            }
        }
    }
    let failed = count(status, "failed");
    if failed < count(old, "failed") {
        let detail = "cannot decrease the failed counter";
        errors.push(FieldError::invalid(&at.child("failed"), &json!(failed), detail));
    }
}

fn capacity(status: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let amounts = status.get("capacity").and_then(Value::as_object).into_iter().flatten();
    for (name, amount) in amounts {
        if let Some(quantity) = Quantity::of(amount).filter(|quantity| quantity.is_negative()) {
            let detail = "must be a valid resource quantity";
            let at = at.child("capacity").key(name);
            let error = FieldError::invalid(&at, amount, detail);
            errors.push(FieldError { value: Some(quantity.to_string()), ..error });
        }
    }
}

/// A namespace is active until it is deleted, and never afterwards.
fn namespace(new: &Value, errors: &mut Vec<FieldError>) {
    let phase = path::text(new, "status.phase");
    let (expected, detail) = match path::get(new, "metadata.deletionTimestamp") {
        None => ("Active", "may only be 'Active' if `deletionTimestamp` is empty"),
        Some(_) => ("Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty"),
    };
    if phase != expected {
        errors.push(FieldError::invalid(&FieldPath::new("status.Phase"), &json!(phase), detail));
    }
}
