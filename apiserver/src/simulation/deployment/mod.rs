//! A `Deployment` keeps a `ReplicaSet` per version of its template, and moves the replicas to the newest.
//!
//! ```text
//!  decide ─ revision (which set is new, its annotations) ─ rollout (one step of scaling) ─ status
//! ```
//!
//! A step is one decision: the sets report what became of it, and then the next is decided. Not imitated:
//! proportional scaling of a paused rollout.

mod revision;
mod rollout;
mod sets;
mod status;
mod strategy;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use self::{sets::Sets, strategy::Strategy};
use super::{
    decision::{Decision, Write},
    object::{is_deleting, name, replicas},
    ownership,
};

const SOURCE: &str = "simulated-deployment-controller";

/// Decides about a Deployment; `candidates` are its sets and those without a controller, `pods` those of its sets.
pub(super) fn decide(
    deployment: &Value,
    candidates: &[Value],
    pods: &[Value],
    now: Timestamp,
) -> Decision {
    let mut decision = Decision::default();
    let controlled = ownership::controlled(deployment, candidates, &mut decision);
    let sets = Sets::of(deployment, &controlled);
    let is_paused = deployment["spec"]["paused"] == true;
    if is_deleting(deployment) {
        return decision;
    }
    let strategy = Strategy::of(deployment);
    let (mut created, mut annotations) = (None, Map::new());
    match sets.new {
        Some(new) => annotations = revision::annotate(deployment, &sets, new, &mut decision),
        None if is_paused || rollout::waits(&sets, strategy, pods) => {}
        None => created = Some(create(deployment, &sets, strategy, &mut decision)),
    }
    for (set, size) in rollout::step(deployment, &sets, strategy, pods) {
        scale(deployment, set, size, strategy, &mut decision);
    }
    if !is_paused {
        revision::delete_oldest(deployment, &sets, &mut decision);
    }
    let status =
        status::status(deployment, &sets, strategy, created.as_deref(), now, &mut decision);
    decision.status_and_annotations(deployment, status, annotations);
    decision
}

/// Creates the set of a new template.
fn create(
    deployment: &Value,
    sets: &Sets<'_>,
    strategy: Strategy,
    decision: &mut Decision,
) -> String {
    let set = revision::create(deployment, sets, strategy);
    let (set_name, size) = (name(&set).to_owned(), replicas(&set));
    decision.write(Write::Create(set));
    if size > 0 {
        let message = format!("Scaled up replica set {set_name} from 0 to {size}");
        decision.record(deployment, SOURCE, "ScalingReplicaSet", message);
    }
    set_name
}

fn scale(deployment: &Value, set: &Value, size: i64, strategy: Strategy, decision: &mut Decision) {
    let before = replicas(set);
    let annotations = revision::replica_annotations(deployment, strategy);
    let patch = json!({ "metadata": { "annotations": annotations }, "spec": { "replicas": size } });
    decision.patch(set, patch);
    let direction = if before < size { "up" } else { "down" };
    let message = format!("Scaled {direction} replica set {} from {before} to {size}", name(set));
    decision.record(deployment, SOURCE, "ScalingReplicaSet", message);
}

#[cfg(test)]
mod tests;
