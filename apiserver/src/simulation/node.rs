//! The node on which simulated Pods run.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    decision::{Decision, Write},
    object::items,
};
use crate::{clock::seconds, pods::SIMULATED};

/// Its name.
pub(super) const NODE: &str = "embedded";
/// Its address, of a range for documentation: nobody answers there.
pub(super) const ADDRESS: &str = "192.0.2.1";
const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// Creates the node if there is none, and gives it its status.
pub(super) fn decide(present: Option<&Value>, now: Timestamp) -> Decision {
    let mut decision = Decision::default();
    match present {
        None => decision.write(Write::Create(node())),
        Some(node) if node["status"]["conditions"].is_null() => {
            decision.status(node, status(now));
        }
        // A new node is tainted until it is ready.
        Some(node) if items(&node["spec"]["taints"]).any(|taint| taint["key"] == NOT_READY) => {
            let others: Vec<&Value> =
                items(&node["spec"]["taints"]).filter(|taint| taint["key"] != NOT_READY).collect();
            let taints = if others.is_empty() { Value::Null } else { json!(others) };
            decision.patch(node, json!({ "spec": { "taints": taints } }));
        }
        Some(_) => {}
    }
    decision
}

fn node() -> Value {
    let note = "This node runs no containers: its Pods only look as if they ran.";
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": NODE,
            "labels": {
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": NODE,
                "kubernetes.io/os": "linux",
            },
            "annotations": { SIMULATED: note },
        },
    })
}

fn status(now: Timestamp) -> Value {
    let resources =
        json!({ "cpu": "64", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "10000" });
    let conditions = [
        ("MemoryPressure", "False", "KubeletHasSufficientMemory"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID"),
        ("Ready", "True", "KubeletReady"),
    ];
    let conditions = conditions.map(|(kind, status, reason)| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": "the node is simulated",
            "lastHeartbeatTime": seconds(now), "lastTransitionTime": seconds(now),
        })
    });
    json!({
        "capacity": resources,
        "allocatable": resources,
        "addresses": [
            { "type": "InternalIP", "address": ADDRESS },
            { "type": "Hostname", "address": NODE },
        ],
        "conditions": conditions,
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": "",
            "containerRuntimeVersion": "simulated://0",
            "kernelVersion": "simulated",
            "kubeProxyVersion": "",
            "kubeletVersion": "v1.37.2-simulated",
            "machineID": "",
            "operatingSystem": "linux",
            "osImage": "simulated",
            "systemUUID": "",
        },
    })
}
