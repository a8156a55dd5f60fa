//! Counters of replicas, pods and events, which make sense together.

use super::super::field::{Errors, Field};

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
        "ReplicationController",
        &[
            "replicas",
            "fullyLabeledReplicas",
            "readyReplicas",
            "availableReplicas",
            "observedGeneration",
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
    ("HorizontalPodAutoscaler", &["currentReplicas", "desiredReplicas"]),
];

/// The counters of the status of a workload.
pub(super) fn check(kind: &str, status: &Field, errors: &mut Errors) {
    let counters = COUNTERS.iter().find(|(of, _)| *of == kind);
    for field in counters.into_iter().flat_map(|(_, fields)| *fields) {
        status.integer(field).is_not_negative(errors);
    }
    let (first, limit): (&[&str], _) = match kind {
        "Deployment" => (&["updatedReplicas"], "readyReplicas"),
        "ReplicaSet" | "ReplicationController" => (&["fullyLabeledReplicas"], "readyReplicas"),
        "StatefulSet" => {
            let all = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
            for field in all {
                not_greater(status, field, "replicas", "status.replicas", errors);
            }
            let ready = "status.readyReplicas";
            return not_greater(status, "availableReplicas", "readyReplicas", ready, errors);
        }
        _ => return,
    };
    for field in first.iter().chain(&["readyReplicas", "availableReplicas"]) {
        not_greater(status, field, "replicas", "status.replicas", errors);
    }
    not_greater(status, "availableReplicas", limit, limit, errors);
}

/// How often a name was taken is never forgotten.
pub(super) fn collisions(kind: &str, status: &Field, old: &Field, errors: &mut Errors) {
    if !matches!(kind, "Deployment" | "StatefulSet" | "DaemonSet") {
        return;
    }
    let Some(before) = old.given("collisionCount") else { return };
    let now = status.child("collisionCount");
    if !now.is_given() || now.number() < before.number() {
        errors.push(status.integer("collisionCount").invalid("cannot be decremented"));
    }
}

fn not_greater(status: &Field, field: &str, limit: &str, shown: &str, errors: &mut Errors) {
    let found = status.integer(field);
    if found.number() > status.integer(limit).number() {
        errors.push(found.invalid(format!("cannot be greater than {shown}")));
    }
}
