//! Claims get a volume: one that a claim names or that fits, or else a new one of the default class.
//!
//! A claim is bound at once, whatever the `volumeBindingMode` of its class. Classes of other provisioners get volumes
//! too; the class `""` gets only volumes that exist.

use serde_json::{Value, json};

use super::{
    decision::{Decision, Target, Write},
    object::{annotation, is_deleting, items, name, owner_reference, text, uid},
};

const SOURCE: &str = "simulated-persistentvolume-controller";
const PROVISIONER: &str = "simulation.operetta.dev/provisioner";
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";
const BOUND: &str = "pv.kubernetes.io/bind-completed";
const PROVISIONED: &str = "pv.kubernetes.io/provisioned-by";

/// The class that is made at the start, if there is none.
pub(super) fn default_class() -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": { "name": "simulated", "annotations": { DEFAULT_CLASS: "true" } },
        "provisioner": PROVISIONER,
        "allowVolumeExpansion": true,
    })
}

/// The claims of the ephemeral volumes of a Pod, which own them.
pub(super) fn ephemeral(pod: &Value) -> impl Iterator<Item = Value> {
    items(&pod["spec"]["volumes"]).filter_map(|volume| {
        let template = &volume.get("ephemeral")?["volumeClaimTemplate"];
        let mut metadata = template["metadata"].clone();
        metadata["name"] = json!(format!("{}-{}", name(pod), text(&volume["name"])));
        metadata["namespace"] = pod["metadata"]["namespace"].clone();
        metadata["ownerReferences"] = json!([owner_reference(pod)]);
        Some(json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": metadata, "spec": template["spec"],
        }))
    })
}

/// Decides about a claim.
pub(super) fn decide(claim: &Value, volumes: &[Value], classes: &[Value]) -> Decision {
    let mut decision = Decision::default();
    if is_deleting(claim) {
        return decision;
    }
    let bound = text(&claim["spec"]["volumeName"]);
    if bound.is_empty() {
        choose(claim, volumes, classes, &mut decision);
        return decision;
    }
    let Some(volume) = volumes.iter().find(|volume| name(volume) == bound) else {
        return decision;
    };
    let holder = &volume["spec"]["claimRef"];
    if holder.is_null() || refers(holder, claim) && text(&holder["uid"]).is_empty() {
        decision.patch(volume, json!({ "spec": { "claimRef": reference(claim) } }));
    } else if holder["uid"] == claim["metadata"]["uid"] {
        bind(claim, volume, &mut decision);
    }
    decision
}

/// Decides about a volume: its phase, and its end when the claim of a provisioned one is gone.
pub(super) fn decide_volume(volume: &Value, claim: Option<&Value>) -> Decision {
    let mut decision = Decision::default();
    let holder = &volume["spec"]["claimRef"];
    let phase = match (holder.is_null() || text(&holder["uid"]).is_empty(), claim) {
        (true, _) => "Available",
        (false, Some(claim)) if claim["metadata"]["uid"] == holder["uid"] => "Bound",
        (false, _) => "Released",
    };
    let mut status = volume["status"].clone();
    if status["phase"] != phase {
        status["phase"] = json!(phase);
        decision.status(volume, status);
    } else if phase == "Released"
        && volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete"
        && annotation(volume, PROVISIONED).is_some()
        && !is_deleting(volume)
    {
        decision.delete(volume);
    }
    decision
}

/// Names a volume in the claim, or makes one.
fn choose(claim: &Value, volumes: &[Value], classes: &[Value], decision: &mut Decision) {
    let class = claim["spec"]["storageClassName"].as_str();
    let default = classes.iter().find(|class| annotation(class, DEFAULT_CLASS) == Some("true"));
    if class.is_none() {
        if let Some(default) = default {
            decision.patch(claim, json!({ "spec": { "storageClassName": name(default) } }));
        }
        return;
    }
    let own = |volume: &&Value| volume["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"];
    let fits = |volume: &&Value| {
        let holder = &volume["spec"]["claimRef"];
        (holder.is_null() || refers(holder, claim) && text(&holder["uid"]).is_empty())
            && text(&volume["spec"]["storageClassName"]) == class.unwrap_or_default()
            && has_modes(volume, claim)
    };
    if let Some(volume) = volumes.iter().find(own).or_else(|| volumes.iter().find(fits)) {
        decision.patch(claim, json!({ "spec": { "volumeName": name(volume) } }));
        return;
    }
    match classes.iter().find(|known| class == Some(name(known))) {
        Some(class) => {
            decision.write(Write::Create(volume(claim, class)));
            let message = format!("Successfully provisioned volume pvc-{}", uid(claim));
            decision.record(claim, SOURCE, "ProvisioningSucceeded", message);
        }
        None if class == Some("") => {
            let message =
                "no persistent volumes available for this claim and no storage class is set";
            decision.record(claim, SOURCE, "FailedBinding", message);
        }
        None => {
            let missing = class.unwrap_or_default();
            let message = format!("storageclass.storage.k8s.io {missing:?} not found");
            decision.warn(claim, SOURCE, "ProvisioningFailed", message);
        }
    }
}

fn has_modes(volume: &Value, claim: &Value) -> bool {
    let modes = &volume["spec"]["accessModes"];
    items(&claim["spec"]["accessModes"]).all(|mode| items(modes).any(|given| given == mode))
}

fn bind(claim: &Value, volume: &Value, decision: &mut Decision) {
    if annotation(claim, BOUND).is_none() {
        decision.patch(claim, json!({ "metadata": { "annotations": { BOUND: "yes" } } }));
        return;
    }
    let mut status = claim["status"].clone();
    status["phase"] = json!("Bound");
    status["accessModes"] = volume["spec"]["accessModes"].clone();
    // A claim that grows gets what it asks for.
    let asked = &claim["spec"]["resources"]["requests"]["storage"];
    let is_own = annotation(volume, PROVISIONED).is_some();
    let capacity = if is_own { asked } else { &volume["spec"]["capacity"]["storage"] };
    status["capacity"] = json!({ "storage": capacity });
    if is_own && volume["spec"]["capacity"]["storage"] != *capacity {
        decision.patch(volume, json!({ "spec": { "capacity": { "storage": capacity } } }));
    }
    decision.status(claim, status);
}

fn volume(claim: &Value, class: &Value) -> Value {
    let policy = class["reclaimPolicy"].as_str().unwrap_or("Delete");
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": format!("pvc-{}", uid(claim)),
            "annotations": { PROVISIONED: class["provisioner"] },
        },
        "spec": {
            "accessModes": claim["spec"]["accessModes"],
            "capacity": { "storage": claim["spec"]["resources"]["requests"]["storage"] },
            "claimRef": reference(claim),
            "csi": { "driver": "simulation.operetta.dev", "volumeHandle": uid(claim) },
            "persistentVolumeReclaimPolicy": policy,
            "storageClassName": name(class),
            "volumeMode": claim["spec"]["volumeMode"],
        },
    })
}

fn reference(claim: &Value) -> Value {
    let Target { namespace, name, uid, .. } = Target::of(claim);
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "namespace": namespace, "name": name, "uid": uid,
    })
}

fn refers(holder: &Value, claim: &Value) -> bool {
    holder["name"] == claim["metadata"]["name"]
        && holder["namespace"] == claim["metadata"]["namespace"]
}
