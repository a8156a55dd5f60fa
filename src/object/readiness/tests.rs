//! The readiness of objects of each kind.

use serde_json::{Value, json};

use super::*;
use crate::object::{K8sType, KeptManagers};

fn ty(api_version: &str, kind: &str) -> K8sType {
    K8sType::namespaced(api_version, kind, &format!("{}s", kind.to_lowercase()))
}

fn readiness(ty: &K8sType, fields: &Value) -> String {
    let mut value = json!({"metadata": {
        "name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "1", "generation": 2,
    }});
    value["spec"] = fields["spec"].clone();
    value["status"] = fields["status"].clone();
    if let Some(metadata) = fields["metadata"].as_object() {
        value["metadata"].as_object_mut().unwrap().extend(metadata.clone());
    }
    let object = Object::from_value(ty, &value, &KeptManagers::default()).unwrap();
    let Readiness { state, message } = Readiness::of(&object);
    if message.is_empty() { state.name().to_owned() } else { format!("{} {message}", state.name()) }
}

fn table(api_version: &str, kind: &str, rows: &[(Value, &str)]) {
    let ty = ty(api_version, kind);
    for (fields, expected) in rows {
        assert_eq!(readiness(&ty, fields), *expected, "{kind} {fields}");
    }
}

/// The same for a workload that its controller has observed.
fn seen_table(kind: &str, rows: &[(Value, &str)]) {
    let seen = |(mut fields, expected): (Value, _)| {
        fields["status"]["observedGeneration"] = json!(2);
        (fields, expected)
    };
    let rows: Vec<_> = rows.iter().cloned().map(seen).collect();
    table("apps/v1", kind, &rows);
}

/// A status with one condition.
fn condition(ty: &str, status: &str, reason: &str) -> Value {
    json!({"status": {"conditions": [{"type": ty, "status": status, "reason": reason}]}})
}

#[test]
fn deployments() {
    let status = |all: u8, updated: u8, available: u8| {
        json!({"spec": {"replicas": 2}, "status": {
            "replicas": all, "updatedReplicas": updated, "availableReplicas": available,
        }})
    };
    seen_table(
        "Deployment",
        &[
            (status(2, 2, 2), "Ready"),
            (json!({"spec": {"replicas": 0}, "status": {}}), "Ready"),
            (json!({}), "Progressing 0 of 1 replicas are updated"),
            (status(2, 1, 2), "Progressing 1 of 2 replicas are updated"),
            (status(3, 2, 3), "Progressing 1 old replicas still exist"),
            (status(5, 5, 5), "Progressing 3 surplus replicas still exist"),
            (status(2, 2, 1), "Progressing 1 of 2 replicas are available"),
            (
                condition("Progressing", "False", "ProgressDeadlineExceeded"),
                "Failed ProgressDeadlineExceeded",
            ),
            (condition("ReplicaFailure", "True", "FailedCreate"), "Failed FailedCreate"),
        ],
    );
}

/// The status is of an earlier generation, or not set: its zeros are as many as are wanted of none.
#[test]
fn workloads_that_their_controller_has_not_observed_are_progressing() {
    for kind in ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"] {
        let none = json!({"spec": {"replicas": 0}, "status": {
            "replicas": 0, "desiredNumberScheduled": 0, "currentNumberScheduled": 0,
        }});
        let mut earlier = none.clone();
        earlier["status"]["observedGeneration"] = json!(1);
        table(
            "apps/v1",
            kind,
            &[
                (none, "Progressing its controller has not observed it yet"),
                (earlier, "Progressing generation 2 is not observed yet, only 1"),
            ],
        );
    }
    table("apps/v1", "ControllerRevision", &[(json!({}), "Exists")]);
}

#[test]
fn stateful_sets() {
    let status = |ready: u8, updated: u8, current: &str| {
        json!({"spec": {"replicas": 2}, "status": {
            "readyReplicas": ready, "updatedReplicas": updated, "currentRevision": current,
            "updateRevision": "2", "replicas": ready,
        }})
    };
    let mut partitioned = status(2, 1, "1");
    partitioned["spec"]["updateStrategy"] = json!({"rollingUpdate": {"partition": 1}});
    seen_table(
        "StatefulSet",
        &[
            (status(2, 2, "2"), "Ready"),
            (status(1, 2, "2"), "Progressing 1 of 2 replicas are ready"),
            (status(2, 1, "1"), "Progressing 1 of 2 replicas are updated"),
            (status(2, 2, "1"), "Progressing the newest revision is being rolled out"),
            (status(3, 3, "2"), "Progressing 1 surplus replicas still exist"),
            (partitioned, "Ready"),
            (json!({"spec": {"updateStrategy": {"type": "OnDelete"}}}), "Ready"),
        ],
    );
}

#[test]
fn daemon_sets_and_replica_sets() {
    let daemons = |updated: u8, available: u8| {
        json!({"status": {
            "desiredNumberScheduled": 3, "updatedNumberScheduled": updated,
            "numberAvailable": available,
        }})
    };
    seen_table(
        "DaemonSet",
        &[
            (daemons(3, 3), "Ready"),
            (daemons(2, 3), "Progressing 2 of 3 pods are updated"),
            (daemons(3, 1), "Progressing 1 of 3 pods are available"),
            (json!({}), "Progressing nothing is scheduled yet"),
            (json!({"status": {"desiredNumberScheduled": 0}}), "Ready"),
        ],
    );
    seen_table(
        "ReplicaSet",
        &[
            (json!({"status": {"availableReplicas": 1}}), "Ready"),
            (
                json!({"status": {"availableReplicas": 1, "replicas": 2}}),
                "Progressing 1 surplus replicas still exist",
            ),
            (json!({}), "Progressing 0 of 1 replicas are available"),
            (condition("ReplicaFailure", "True", "FailedCreate"), "Failed FailedCreate"),
        ],
    );
}

#[test]
fn jobs() {
    table(
        "batch/v1",
        "Job",
        &[
            (condition("Complete", "True", ""), "Ready"),
            (condition("Failed", "True", "BackoffLimitExceeded"), "Failed BackoffLimitExceeded"),
            (json!({}), "Progressing it has not started"),
            (json!({"spec": {"suspend": true}}), "Progressing it is suspended"),
            (
                json!({"status": {"startTime": "t", "active": 1, "failed": 2}}),
                "Progressing 1 pods run, 2 have failed",
            ),
        ],
    );
}

#[test]
fn pods() {
    let waiting = |reason: &str| {
        let state = json!({"waiting": {"reason": reason, "message": "no such image"}});
        json!({"status": {"phase": "Pending", "containerStatuses": [{"name": "c", "state": state}]}})
    };
    table(
        "v1",
        "Pod",
        &[
            (json!({"status": {"phase": "Succeeded"}}), "Ready"),
            (condition("Ready", "True", ""), "Ready"),
            (condition("Ready", "False", "ContainersNotReady"), "Progressing ContainersNotReady"),
            (condition("PodScheduled", "False", "Unschedulable"), "Progressing Unschedulable"),
            (json!({}), "Progressing it has not been scheduled yet"),
            (json!({"status": {"phase": "Failed", "reason": "Evicted"}}), "Failed Evicted"),
            (waiting("ImagePullBackOff"), "Failed container c: ImagePullBackOff: no such image"),
            (waiting("ContainerCreating"), "Progressing it has not been scheduled yet"),
        ],
    );
}

#[test]
fn services_claims_and_namespaces() {
    let with_address = json!({"ingress": [{"ip": "192.0.2.1"}]});
    let balancer = json!({"type": "LoadBalancer"});
    table(
        "v1",
        "Service",
        &[
            (json!({"spec": {"type": "ClusterIP"}}), "Ready"),
            (json!({"spec": balancer}), "Progressing its load balancer has no address yet"),
            (json!({"spec": balancer, "status": {"loadBalancer": with_address}}), "Ready"),
        ],
    );
    table(
        "v1",
        "PersistentVolumeClaim",
        &[
            (json!({"status": {"phase": "Bound"}}), "Ready"),
            (json!({"status": {"phase": "Lost"}}), "Failed its volume is lost"),
            (
                json!({"status": {"phase": "Pending"}}),
                "Progressing it is not bound to a volume yet",
            ),
        ],
    );
    table("v1", "Namespace", &[(json!({"status": {"phase": "Active"}}), "Ready")]);
}

#[test]
fn other_kinds_by_their_conditions_or_their_existence() {
    let ending = json!({"metadata": {"deletionTimestamp": "t", "finalizers": ["x/y"]}});
    table(
        "example.com/v1",
        "Widget",
        &[
            (json!({}), "Exists"),
            (json!({"status": {"conditions": "odd"}}), "Exists"),
            (condition("Ready", "True", ""), "Ready"),
            (condition("Available", "False", "Broken"), "Progressing Broken"),
            (condition("Established", "Unknown", ""), "Progressing Established is Unknown"),
            (condition("Stalled", "True", "Conflict"), "Failed Conflict"),
            (condition("Reconciling", "True", "Waiting"), "Progressing Waiting"),
            (ending, "Terminating it is being deleted, which waits for x/y"),
        ],
    );
}

#[test]
fn the_state_is_remembered_for_a_version() {
    let pods = ty("v1", "Pod");
    for (phase, state) in [("Succeeded", ReadyState::Ready), ("Failed", ReadyState::Failed)] {
        let value = json!({
            "metadata": {"name": "a", "uid": "u", "resourceVersion": "1"}, "status": {"phase": phase},
        });
        let pod = Object::from_value(&pods, &value, &KeptManagers::default()).unwrap();
        assert_eq!(pod.readiness_memo().load(Ordering::Relaxed), 0);
        let clone = pod.clone();
        assert_eq!([&pod, &clone].map(Readiness::state_of), [state, state]);
        let number = clone.readiness_memo().load(Ordering::Relaxed);
        assert_eq!(ReadyState::from_number(number), Some(state));
    }
}
