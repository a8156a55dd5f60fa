//! A `DaemonSet` keeps a Pod on the node, if the node fits.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    decision::Decision,
    node::NODE,
    object::{age, generation, is_deleting, items, name, text},
    ownership,
    readiness::{count, has_ended, is_active, is_available, is_ready, set_counts},
    revisions::{self, HASH, Revisions},
    template,
};

const SOURCE: &str = "simulated-daemonset-controller";
/// Taints that the Pods of all sets tolerate.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

/// Decides about a set. `pods` and `kept` (revisions) are candidates.
pub(super) fn decide(
    set: &Value,
    pods: &[Value],
    kept: &[Value],
    node: Option<&Value>,
    now: Timestamp,
) -> Decision {
    let mut decision = Decision::default();
    let own = ownership::controlled(set, pods, &mut decision);
    let revisions = Revisions::of(ownership::controlled(set, kept, &mut decision));
    if is_deleting(set) {
        return decision;
    }
    let Some(newest) = revisions.newest(set, &mut decision) else { return decision };
    let hash = revisions::hash(newest);
    let fits = node.is_some_and(|node| is_wanted(set, node));
    manage(set, &own, hash, fits, &mut decision);
    status(set, &own, hash, fits, now, &mut decision);
    let used: Vec<&str> = own.iter().map(|pod| text(&pod["metadata"]["labels"][HASH])).collect();
    let in_use: Vec<String> = used.iter().map(|hash| format!("{}-{hash}", name(set))).collect();
    let in_use: Vec<&str> = in_use.iter().map(String::as_str).chain([name(newest)]).collect();
    revisions.delete_oldest(set, &in_use, &mut decision);
    decision
}

fn is_wanted(set: &Value, node: &Value) -> bool {
    let selector = set["spec"]["template"]["spec"]["nodeSelector"].as_object();
    let mut selector = selector.into_iter().flatten();
    selector.all(|(key, value)| node["metadata"]["labels"][key] == *value)
}

/// Creates the Pod, deletes those that are too many, have ended, or are of an old template.
fn manage(set: &Value, pods: &[&Value], hash: &str, fits: bool, decision: &mut Decision) {
    let mut active: Vec<&Value> = pods.iter().copied().filter(|pod| is_active(pod)).collect();
    active.sort_by_key(|pod| (text(&pod["metadata"]["labels"][HASH]) != hash, age(pod)));
    let ended = pods.iter().copied().filter(|pod| has_ended(pod) && !is_deleting(pod));
    let is_rolling = set["spec"]["updateStrategy"]["type"] != "OnDelete";
    let keep = usize::from(fits);
    let is_old = |pod: &&&Value| is_rolling && text(&pod["metadata"]["labels"][HASH]) != hash;
    let surplus = active.iter().skip(keep);
    let outdated = active.iter().take(keep).filter(is_old);
    for pod in surplus.chain(outdated).copied().chain(ended) {
        decision.delete(pod);
        decision.record(set, SOURCE, "SuccessfulDelete", format!("Deleted pod: {}", name(pod)));
    }
    if fits && pods.is_empty() {
        decision.spawn(set, SOURCE, pod(set, hash));
    }
}

fn pod(set: &Value, hash: &str) -> Value {
    let mut pod = template::pod(set, &set["spec"]["template"]);
    pod["metadata"]["labels"][HASH] = json!(hash);
    let mut tolerations: Vec<Value> = items(&pod["spec"]["tolerations"]).cloned().collect();
    tolerations.extend(
        TOLERATED
            .map(|(key, effect)| json!({ "key": key, "operator": "Exists", "effect": effect })),
    );
    pod["spec"]["tolerations"] = json!(tolerations);
    let field = json!({ "key": "metadata.name", "operator": "In", "values": [NODE] });
    let terms = json!([{ "matchFields": [field] }]);
    pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
        json!({ "nodeSelectorTerms": terms });
    pod
}

fn status(
    set: &Value,
    pods: &[&Value],
    hash: &str,
    fits: bool,
    now: Timestamp,
    decision: &mut Decision,
) {
    let present: Vec<&&Value> = pods.iter().filter(|pod| is_active(pod)).collect();
    let has_pod = !present.is_empty();
    let one = |is_so: bool| i64::from(is_so);
    let is_ready = present.iter().any(|pod| is_ready(pod));
    let is_available = present.iter().any(|pod| is_available(pod, set, now, decision));
    let is_updated = present.iter().any(|pod| text(&pod["metadata"]["labels"][HASH]) == hash);
    let mut status = set["status"].clone();
    status["currentNumberScheduled"] = json!(one(fits && has_pod));
    status["desiredNumberScheduled"] = json!(one(fits));
    status["numberMisscheduled"] = json!(if fits { 0 } else { count(present.len()) });
    status["numberReady"] = json!(one(fits && is_ready));
    set_counts(
        &mut status,
        [
            ("observedGeneration", generation(set)),
            ("updatedNumberScheduled", one(fits && is_updated)),
            ("numberAvailable", one(fits && is_available)),
            ("numberUnavailable", one(fits && !is_available)),
        ],
    );
    decision.status(set, status);
}
