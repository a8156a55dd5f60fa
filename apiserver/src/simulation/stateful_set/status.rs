//! The status of a `StatefulSet`.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::simulation::{
    decision::Decision,
    object::{generation, is_deleting, replicas, text},
    readiness::{count, has_ended, is_available, is_ready, set_counts},
    revisions::HASH,
};

/// Writes the status; a rollout that is complete makes the newest revision the current one.
pub(super) fn write(
    set: &Value,
    pods: &[&Value],
    (current, newest): (&str, &str),
    now: Timestamp,
    decision: &mut Decision,
) {
    let present: Vec<&&Value> = pods.iter().filter(|pod| !has_ended(pod)).collect();
    let ready = count(present.iter().filter(|pod| is_ready(pod)).count());
    let available = present.iter().filter(|pod| is_available(pod, set, now, decision)).count();
    let of = |revision: &str| {
        let is_of = |pod: &&&&Value| {
            text(&pod["metadata"]["labels"][HASH]) == revision && !is_deleting(pod)
        };
        count(present.iter().filter(is_of).count())
    };
    let updated = of(newest);
    let is_rolling = set["spec"]["updateStrategy"]["type"] != "OnDelete";
    let wanted = replicas(set);
    let is_complete =
        is_rolling && updated == wanted && ready == wanted && count(present.len()) == wanted;
    let current = if is_complete { newest } else { current };
    let mut status = set["status"].clone();
    status["replicas"] = json!(present.len());
    status["availableReplicas"] = json!(available);
    status["collisionCount"] = json!(0);
    status["currentRevision"] = json!(current);
    status["updateRevision"] = json!(newest);
    set_counts(
        &mut status,
        [
            ("observedGeneration", generation(set)),
            ("readyReplicas", ready),
            ("currentReplicas", of(current)),
            ("updatedReplicas", updated),
        ],
    );
    decision.status(set, status);
}
