//! What create, update and status update reset, keep or count before an object is validated, and what the
//! default admission plugins add to it.
//!
//! Not done here: what needs state beyond the object (see `addresses`), and `metadata` that the
//! server owns for every type (uid, times, versions).

use serde_json::{Value, json};

use super::{
    catalog::BuiltinType, defaulting::default, path, pod, round_trip::drop_empty_lists, service,
};

/// Prepares a new object. `metadata.name` and `metadata.uid` are already set.
pub fn prepare_for_create(ty: &BuiltinType, object: &mut Value) {
    if ty.has_status && ty.kind != "Node" {
        path::remove(object, "status");
    }
    if ty.has_generation {
        path::set(object, "metadata.generation", 1);
    }
    match (ty.group, ty.kind) {
        ("", "Pod") => pod::prepare_for_create(object),
        ("", "Service") => service::prepare_for_create(object),
        ("", "Namespace") => add_once(object, "spec.finalizers", "kubernetes"),
        ("", "Node") => taint_not_ready(object),
        ("", "PersistentVolumeClaim") => {
            normalise_data_sources(object);
            add_once(object, "metadata.finalizers", "kubernetes.io/pvc-protection");
        }
        ("", "PersistentVolume") => {
            add_once(object, "metadata.finalizers", "kubernetes.io/pv-protection");
        }
        ("batch", "Job") => generate_selector(object),
        ("apps", "DaemonSet") => count_template(object, 1),
        ("apiregistration.k8s.io", "APIService") => judge_service(object),
        _ => {}
    }
    default(ty, object);
}

/// Prepares the successor of `old`, without changes of its status.
pub fn prepare_for_update(ty: &BuiltinType, new: &mut Value, old: &Value) {
    path::copy(new, old, "metadata.generation");
    if ty.has_status {
        path::copy(new, old, "status");
    }
    match (ty.group, ty.kind) {
        ("", "Pod") => pod::prepare_for_update(new, old),
        ("", "Service") => service::prepare_for_update(new, old),
        ("", "Namespace") => path::copy(new, old, "spec.finalizers"),
        ("", "Secret") if path::text(new, "type").is_empty() => path::copy(new, old, "type"),
        ("", "PersistentVolumeClaim") => normalise_data_sources(new),
        ("certificates.k8s.io", "CertificateSigningRequest") => path::copy(new, old, "spec"),
        ("apps", "DaemonSet") => {
            let changed = path::get(new, "spec.template") != path::get(old, "spec.template");
            count_template(new, template_generation(old) + i64::from(changed));
        }
        _ => {}
    }
    default(ty, new);
    if ty.has_generation && is_counted(ty, new, old) {
        let generation = path::number(old, "metadata.generation").unwrap_or_default();
        path::set(new, "metadata.generation", generation + 1);
    }
}

/// Whether a change is counted in the generation. An empty list is none.
fn is_counted(ty: &BuiltinType, new: &Value, old: &Value) -> bool {
    let differs =
        |new: &Value| counts(ty).iter().any(|at| path::get(new, at) != path::get(old, at));
    differs(new) && {
        let mut new = new.clone();
        drop_empty_lists(ty.root, &mut new);
        differs(&new)
    }
}

/// Prepares the successor of `old` for a request that may only change its status.
pub fn prepare_for_status_update(ty: &BuiltinType, new: &mut Value, old: &Value) {
    let status = path::get(new, "status").cloned();
    let metadata = path::get(new, "metadata").cloned();
    *new = old.clone();
    path::set(new, "status", status.unwrap_or(Value::Null));
    path::set(new, "metadata", metadata.unwrap_or(Value::Null));
    for kept in kept_by_status_update(ty) {
        path::copy(new, old, kept);
    }
    if ty.kind == "Pod" {
        pod::prepare_for_status_update(new, old);
    }
    default(ty, new);
}

/// Prepares the successor of a namespace for its `finalize` subresource, which alone may change
/// the finalizers.
pub fn prepare_for_finalize(ty: &BuiltinType, new: &mut Value, old: &Value) {
    path::copy(new, old, "status");
    path::copy(new, old, "metadata.generation");
    default(ty, new);
}

/// The fields whose changes are counted in the generation.
fn counts(ty: &BuiltinType) -> &'static [&'static str] {
    match ty.kind {
        "Deployment" => &["spec", "metadata.annotations"],
        "EndpointSlice" => &["addressType", "endpoints", "ports", "metadata.labels"],
        "PodTemplate" => &["template"],
        "PriorityClass" => &[],
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => &["webhooks"],
        _ => &["spec"],
    }
}

/// Metadata that a status update does not change. For most types it changes labels and annotations, as in
/// the real server.
fn kept_by_status_update(ty: &BuiltinType) -> &'static [&'static str] {
    match ty.kind {
        "Deployment" => &["metadata.generation", "metadata.labels"],
        "Pod" => &["metadata.generation", "metadata.deletionTimestamp", "metadata.ownerReferences"],
        "ServiceCIDR" | "VolumeAttachment" | "PodCertificateRequest" => &[
            "metadata.generation",
            "metadata.deletionTimestamp",
            "metadata.labels",
            "metadata.annotations",
            "metadata.finalizers",
            "metadata.ownerReferences",
        ],
        _ => &["metadata.generation"],
    }
}

/// The server itself is always there.
fn judge_service(service: &mut Value) {
    if path::get(service, "spec.service").is_none() {
        let created = path::text(service, "metadata.creationTimestamp").to_owned();
        let condition = json!({
            "type": "Available",
            "status": "True",
            "lastTransitionTime": created,
            "reason": "Local",
            "message": "Local APIServices are always available",
        });
        path::set(service, "status.conditions", json!([condition]));
    }
}

fn add_once(object: &mut Value, at: &str, text: &str) {
    let mut texts = path::list(object, at).to_vec();
    if !texts.iter().any(|known| known == text) {
        texts.push(Value::from(text));
        path::set(object, at, texts);
    }
}

/// The source of a claim has two names; each completes the other.
fn normalise_data_sources(claim: &mut Value) {
    let source = path::get(claim, "spec.dataSource").cloned();
    let reference = path::get(claim, "spec.dataSourceRef").cloned();
    match (source, reference) {
        (Some(source), None) => path::set(claim, "spec.dataSourceRef", source),
        (None, Some(reference)) if reference.get("namespace").is_none() => {
            path::set(claim, "spec.dataSource", reference);
        }
        _ => {}
    }
}

/// Gives the pods of a job labels that no other job has, and the job a selector for them.
fn generate_selector(job: &mut Value) {
    if path::flag(job, "spec.manualSelector") {
        return;
    }
    let name = path::text(job, "metadata.name").to_owned();
    let uid = path::text(job, "metadata.uid").to_owned();
    if let Some(labels) = path::map_mut(job, "spec.template.metadata.labels") {
        for (label, value) in [
            ("job-name", &name),
            ("batch.kubernetes.io/job-name", &name),
            ("controller-uid", &uid),
            ("batch.kubernetes.io/controller-uid", &uid),
        ] {
            labels.entry(label).or_insert_with(|| json!(value));
        }
    }
    if let Some(labels) = path::map_mut(job, "spec.selector.matchLabels") {
        labels.entry("batch.kubernetes.io/controller-uid").or_insert_with(|| json!(uid));
    }
}

/// Admission plugin `TaintNodesByCondition`.
fn taint_not_ready(node: &mut Value) {
    let taint = json!({ "key": "node.kubernetes.io/not-ready", "effect": "NoSchedule" });
    let taints = path::list(node, "spec.taints");
    if !taints.contains(&taint) {
        let taints = [taints, &[taint]].concat();
        path::set(node, "spec.taints", taints);
    }
}

const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

fn template_generation(daemon_set: &Value) -> i64 {
    path::get(daemon_set, "metadata.annotations")
        .and_then(|annotations| annotations.get(TEMPLATE_GENERATION)?.as_str()?.parse().ok())
        .unwrap_or_default()
}

fn count_template(daemon_set: &mut Value, generation: i64) {
    if let Some(annotations) = path::map_mut(daemon_set, "metadata.annotations") {
        annotations.insert(TEMPLATE_GENERATION.to_owned(), Value::from(generation.to_string()));
    }
}
