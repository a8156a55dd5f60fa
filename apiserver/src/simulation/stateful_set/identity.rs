//! The identity of the Pods of a `StatefulSet`: names, labels and claims by ordinal.

use serde_json::{Value, json};

use crate::simulation::{
    object::{items, name, owner_reference, text},
    template,
};

/// The ordinal in the name of a Pod of a set.
pub(super) fn ordinal(set: &Value, pod: &Value) -> Option<i64> {
    name(pod).strip_prefix(name(set))?.strip_prefix('-')?.parse().ok()
}

/// The Pod of an ordinal.
pub(super) fn pod(set: &Value, template: &Value, ordinal: i64) -> Value {
    let mut pod = template::pod(set, template);
    let pod_name = format!("{}-{ordinal}", name(set));
    if let Some(metadata) = pod["metadata"].as_object_mut() {
        metadata.remove("generateName");
    }
    pod["metadata"]["name"] = json!(pod_name);
    pod["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] = json!(pod_name);
    pod["metadata"]["labels"]["apps.kubernetes.io/pod-index"] = json!(ordinal.to_string());
    pod["spec"]["hostname"] = json!(pod_name);
    if !text(&set["spec"]["serviceName"]).is_empty() {
        pod["spec"]["subdomain"] = set["spec"]["serviceName"].clone();
    }
    pod["spec"]["volumes"] = json!(volumes(set, &pod, ordinal));
    pod
}

/// The claims of an ordinal.
pub(super) fn claims(set: &Value, ordinal: i64) -> impl Iterator<Item = Value> {
    items(&set["spec"]["volumeClaimTemplates"]).map(move |template| {
        let mut claim = template.clone();
        claim["apiVersion"] = json!("v1");
        claim["kind"] = json!("PersistentVolumeClaim");
        if let Some(fields) = claim.as_object_mut() {
            fields.remove("status");
        }
        claim["metadata"]["name"] = json!(claim_name(set, template, ordinal));
        claim["metadata"]["namespace"] = set["metadata"]["namespace"].clone();
        let labels = set["spec"]["selector"]["matchLabels"].as_object().into_iter().flatten();
        for (label, value) in labels {
            claim["metadata"]["labels"][label] = value.clone();
        }
        if set["spec"]["persistentVolumeClaimRetentionPolicy"]["whenDeleted"] == "Delete" {
            claim["metadata"]["ownerReferences"] = json!([owner_reference(set)]);
        }
        claim
    })
}

/// The volumes of a Pod: a claim takes the place of a volume of its name.
fn volumes(set: &Value, pod: &Value, ordinal: i64) -> Vec<Value> {
    let templates = || items(&set["spec"]["volumeClaimTemplates"]);
    let own = templates().map(|template| {
        let claim = claim_name(set, template, ordinal);
        json!({ "name": name(template), "persistentVolumeClaim": { "claimName": claim } })
    });
    let given = items(&pod["spec"]["volumes"]).filter(|volume| {
        !templates().any(|template| template["metadata"]["name"] == volume["name"])
    });
    own.chain(given.cloned()).collect()
}

fn claim_name(set: &Value, template: &Value, ordinal: i64) -> String {
    format!("{}-{}-{ordinal}", name(template), name(set))
}
