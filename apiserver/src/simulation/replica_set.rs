//! A `ReplicaSet` keeps so many Pods of its template. All Pods that are missing are created at once.

use std::cmp::Reverse;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    decision::Decision,
    object::{age, annotation, generation, is_deleting, name, replicas, text},
    ownership,
    readiness::{count, has_ended, is_active, is_available, is_ready, set_counts},
    template,
};

const SOURCE: &str = "simulated-replicaset-controller";
/// Says how costly it is to delete a Pod.
const COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Decides about a `ReplicaSet`; `candidates` are its Pods and those without a controller.
pub(super) fn decide(set: &Value, candidates: &[Value], now: Timestamp) -> Decision {
    let mut decision = Decision::default();
    let pods = ownership::controlled(set, candidates, &mut decision);
    let active: Vec<&Value> = pods.iter().copied().filter(|pod| is_active(pod)).collect();
    if !is_deleting(set) {
        scale(set, &active, &mut decision);
    }
    let terminating = pods.iter().filter(|pod| is_deleting(pod) && !has_ended(pod)).count();
    let status = status(set, &active, count(terminating), now, &mut decision);
    decision.status(set, status);
    decision
}

fn scale(set: &Value, active: &[&Value], decision: &mut Decision) {
    let wanted = usize::try_from(replicas(set)).unwrap_or_default();
    for _ in active.len()..wanted {
        decision.spawn(set, SOURCE, template::pod(set, &set["spec"]["template"]));
    }
    let mut ranked = active.to_vec();
    ranked.sort_by_key(|pod| rank(pod));
    for pod in ranked.iter().take(active.len().saturating_sub(wanted)) {
        decision.delete(pod);
        decision.record(set, SOURCE, "SuccessfulDelete", format!("Deleted pod: {}", name(pod)));
    }
}

/// Which Pods are deleted first: those that do least, then the cheapest, then the youngest.
fn rank(pod: &Value) -> (bool, bool, bool, i64, Reverse<(&str, &str)>) {
    let is_assigned = !text(&pod["spec"]["nodeName"]).is_empty();
    let is_running = pod["status"]["phase"] == "Running";
    let cost = annotation(pod, COST).and_then(|cost| cost.parse().ok()).unwrap_or_default();
    (is_assigned, is_running, is_ready(pod), cost, Reverse(age(pod)))
}

fn status(
    set: &Value,
    active: &[&Value],
    terminating: i64,
    now: Timestamp,
    decision: &mut Decision,
) -> Value {
    let labels = set["spec"]["template"]["metadata"]["labels"].as_object();
    let is_labelled = |pod: &&&Value| {
        let mut labels = labels.into_iter().flatten();
        labels.all(|(label, value)| pod["metadata"]["labels"][label] == *value)
    };
    let labelled = active.iter().filter(is_labelled).count();
    let ready = active.iter().filter(|pod| is_ready(pod)).count();
    let available = active.iter().filter(|pod| is_available(pod, set, now, decision)).count();
    let mut status = set["status"].clone();
    status["replicas"] = json!(active.len());
    status["terminatingReplicas"] = json!(terminating);
    set_counts(
        &mut status,
        [
            ("fullyLabeledReplicas", count(labelled)),
            ("readyReplicas", count(ready)),
            ("availableReplicas", count(available)),
            ("observedGeneration", generation(set)),
        ],
    );
    status
}
