//! The new set of a Deployment: its creation, its revision and annotations; and the deletion of the oldest.

use serde_json::{Map, Value, json};

use super::{
    rollout,
    sets::{HASH, REVISION, Sets, revision},
    strategy::Strategy,
};
use crate::simulation::{
    decision::Decision,
    object::{annotation, generation, is_deleting, name, number, owner_reference, replicas},
    template,
};

const HISTORY: &str = "deployment.kubernetes.io/revision-history";
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
const MAXIMUM: &str = "deployment.kubernetes.io/max-replicas";
/// Annotations that a set does not get from its Deployment.
const NOT_COPIED: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.to",
    REVISION,
    HISTORY,
    DESIRED,
    MAXIMUM,
];

/// The set for a new template.
pub(super) fn create(deployment: &Value, sets: &Sets<'_>, strategy: Strategy) -> Value {
    let template = &deployment["spec"]["template"];
    let hash = template::hash(template, number(&deployment["status"]["collisionCount"]));
    let mut template = template.clone();
    template["metadata"]["labels"][HASH] = json!(hash);
    let mut selector = deployment["spec"]["selector"].clone();
    selector["matchLabels"][HASH] = json!(hash);
    let mut annotations = copied(deployment);
    annotations.extend(replica_annotations(deployment, strategy));
    annotations.insert(REVISION.to_owned(), json!(sets.next_revision().to_string()));
    json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": format!("{}-{hash}", name(deployment)),
            "namespace": deployment["metadata"]["namespace"],
            "labels": template["metadata"]["labels"],
            "annotations": annotations,
            "ownerReferences": [owner_reference(deployment)],
        },
        "spec": {
            "replicas": rollout::size_of_new(deployment, sets, strategy),
            "minReadySeconds": number(&deployment["spec"]["minReadySeconds"]),
            "selector": selector,
            "template": template,
        },
    })
}

/// Gives the new set its revision and the annotations of the Deployment. Returns the annotation of the Deployment.
pub(super) fn annotate(
    deployment: &Value,
    sets: &Sets<'_>,
    new: &Value,
    decision: &mut Decision,
) -> Map<String, Value> {
    let (before, next) = (revision(new), sets.next_revision());
    let mut annotations = copied(deployment);
    annotations.retain(|key, value| new["metadata"]["annotations"][key] != *value);
    if before < next {
        annotations.insert(REVISION.to_owned(), json!(next.to_string()));
        if before > 0 {
            let earlier = annotation(new, HISTORY).map(|earlier| format!("{earlier},"));
            let history = format!("{}{before}", earlier.unwrap_or_default());
            annotations.insert(HISTORY.to_owned(), json!(history));
        }
    }
    let seconds = number(&deployment["spec"]["minReadySeconds"]);
    let is_due = seconds != number(&new["spec"]["minReadySeconds"]);
    if !annotations.is_empty() || is_due {
        let spec = json!({ "minReadySeconds": seconds });
        decision.patch(new, json!({ "metadata": { "annotations": annotations }, "spec": spec }));
    }
    [(REVISION.to_owned(), json!(before.max(next).to_string()))].into_iter().collect()
}

/// Deletes the oldest of the sets without Pods, beyond the limit.
pub(super) fn delete_oldest(deployment: &Value, sets: &Sets<'_>, decision: &mut Decision) {
    let limit = deployment["spec"]["revisionHistoryLimit"].as_u64().unwrap_or(10);
    let is_empty = |set: &&Value| {
        let status = &set["status"];
        replicas(set) == 0
            && number(&status["replicas"]) == 0
            && number(&status["observedGeneration"]) >= generation(set)
            && !is_deleting(set)
    };
    let mut empty: Vec<&Value> = sets.old.iter().copied().filter(is_empty).collect();
    empty.sort_by_key(|set| revision(set));
    let surplus = empty.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
    // The new set takes over first.
    if sets.new.is_some() {
        empty.iter().take(surplus).for_each(|set| decision.delete(set));
    }
}

/// What sets keep of their Deployment, for scaling.
pub(super) fn replica_annotations(deployment: &Value, strategy: Strategy) -> Map<String, Value> {
    let desired = replicas(deployment);
    let maximum = desired + strategy.surge();
    [(DESIRED, desired), (MAXIMUM, maximum)]
        .map(|(key, number)| (key.to_owned(), json!(number.to_string())))
        .into_iter()
        .collect()
}

fn copied(deployment: &Value) -> Map<String, Value> {
    let annotations = deployment["metadata"]["annotations"].as_object().into_iter().flatten();
    annotations
        .filter(|(key, _)| !NOT_COPIED.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
