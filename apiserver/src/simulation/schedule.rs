//! The scheduler: assigns Pods to the node.
//!
//! It looks at claims, the node selector, taints and cordons. Affinity, resources and priorities are ignored.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    condition,
    decision::{Decision, Target, Write},
    node::NODE,
    object::{items, name, text},
};

const SOURCE: &str = "simulated-scheduler";
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// Decides about a Pod without a node; `claims` are those that it uses, absent ones as null.
pub(super) fn decide(
    pod: &Value,
    node: Option<&Value>,
    claims: &[(String, Value)],
    now: Timestamp,
) -> Decision {
    let mut decision = Decision::default();
    let scheduler = text(&pod["spec"]["schedulerName"]);
    if !matches!(scheduler, "" | "default-scheduler") {
        return decision;
    }
    let gates = items(&pod["spec"]["schedulingGates"]).count();
    let refusal = if gates > 0 {
        Some((
            "SchedulingGated",
            "Scheduling is blocked due to non-empty scheduling gates".to_owned(),
        ))
    } else {
        why_not(pod, node, claims).map(|why| ("Unschedulable", why))
    };
    let Some((reason, message)) = refusal else {
        decision.write(Write::Bind(Target::of(pod)));
        let (namespace, name) = (text(&pod["metadata"]["namespace"]), name(pod));
        let message = format!("Successfully assigned {namespace}/{name} to {NODE}");
        decision.record(pod, SOURCE, "Scheduled", message);
        return decision;
    };
    let mut status = pod["status"].clone();
    condition::set(&mut status, ("PodScheduled", "False", reason, &message), &[], now);
    if status != pod["status"] && reason == "Unschedulable" {
        decision.warn(pod, SOURCE, "FailedScheduling", message);
    }
    decision.status(pod, status);
    decision
}

/// Why a Pod cannot be assigned to the node.
fn why_not(pod: &Value, node: Option<&Value>, claims: &[(String, Value)]) -> Option<String> {
    let Some(node) = node else { return Some("no nodes available to schedule pods".to_owned()) };
    let why = |why: &str| Some(format!("0/1 nodes are available: {why}"));
    for (name, claim) in claims {
        if claim.is_null() {
            return why(&format!("persistentvolumeclaim {name:?} not found."));
        }
        if claim["status"]["phase"] != "Bound" {
            return why("pod has unbound immediate PersistentVolumeClaims.");
        }
    }
    let selector = pod["spec"]["nodeSelector"].as_object().into_iter().flatten();
    if selector.into_iter().any(|(key, value)| node["metadata"]["labels"][key] != *value) {
        return why("1 node(s) didn't match Pod's node affinity/selector.");
    }
    let cordon = json!({ "key": UNSCHEDULABLE, "effect": "NoSchedule" });
    if node["spec"]["unschedulable"] == true && !tolerates(pod, &cordon) {
        return why("1 node(s) were unschedulable.");
    }
    let hard = |taint: &&Value| taint["effect"] != "PreferNoSchedule";
    let taint = items(&node["spec"]["taints"]).filter(hard).find(|taint| !tolerates(pod, taint))?;
    let (key, value) = (text(&taint["key"]), text(&taint["value"]));
    why(&format!("1 node(s) had untolerated taint {{{key}: {value}}}."))
}

fn tolerates(pod: &Value, taint: &Value) -> bool {
    items(&pod["spec"]["tolerations"]).any(|toleration| {
        let is = |field: &str| text(&toleration[field]) == text(&taint[field]);
        let (is_any, exists) =
            (text(&toleration["key"]).is_empty(), toleration["operator"] == "Exists");
        (text(&toleration["effect"]).is_empty() || is("effect"))
            && (is("key") && (exists || is("value")) || is_any && exists)
    })
}
