//! Pods: unique names, volumes, mounts, and what an update may change.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::selector;
use crate::{
    builtin::path,
    schema::{
        FieldError, FieldErrorKind, FieldPath,
        name_rule::{self, NameRule},
    },
};

/// The lists of containers of a pod.
const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Unique names of containers and volumes, and mounts of volumes that exist.
pub(super) fn spec(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    unique_names(spec, "volumes", at, &mut BTreeSet::new(), errors);
    let volumes = mountable(spec, at, errors);
    let mut names = BTreeSet::new();
    for list in CONTAINERS {
        unique_names(spec, list, at, &mut names, errors);
        for (index, container) in path::list(spec, list).iter().enumerate() {
            let at = at.child(list).index(index);
            mounts(container, &volumes, &at, errors);
        }
    }
    own_names(spec, at, errors);
    let zero_or_less = path::number(spec, "activeDeadlineSeconds").filter(|seconds| *seconds < 1);
    if let Some(seconds) = zero_or_less {
        let detail = "must be between 1 and 2147483647, inclusive";
        let at = at.child("activeDeadlineSeconds");
        errors.push(FieldError::invalid(&at, &json!(seconds), detail));
    }
}

/// Labels and annotations of a template; the real server leaves `metadata` out of their paths.
pub(super) fn template(template: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    selector::labels(path::get(template, "metadata.labels"), &at.child("labels"), errors);
    let annotations = path::get(template, "metadata.annotations").and_then(Value::as_object);
    for key in annotations.into_iter().flat_map(Map::keys) {
        for detail in name_rule::label_key(&key.to_lowercase()) {
            errors.push(FieldError::invalid(&at.child("annotations"), &json!(key), detail));
        }
    }
}

/// The address of a host alias.
pub(super) fn host_alias(alias: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let address = path::text(alias, "ip");
    if address.parse::<std::net::IpAddr>().is_err() {
        let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
        errors.push(FieldError::invalid(&at.child("ip"), &json!(address), detail));
    }
    for (index, name) in path::list(alias, "hostnames").iter().enumerate() {
        for detail in name_rule::dns_subdomain(name.as_str().unwrap_or_default(), false) {
            errors.push(FieldError::invalid(&at.child("hostnames").index(index), name, detail));
        }
    }
}

/// Name servers are addresses, and options have a name.
pub(super) fn dns(config: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    for (index, server) in path::list(config, "nameservers").iter().enumerate() {
        if server.as_str().unwrap_or_default().parse::<std::net::IpAddr>().is_err() {
            let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            let at = at.child("nameservers").index(index);
            errors.push(FieldError::invalid(&at, server, detail));
        }
    }
    for (index, option) in path::list(config, "options").iter().enumerate() {
        if path::text(option, "name").is_empty() {
            let at = at.child("options").index(index);
            errors.push(FieldError::required(&at, "must not be empty"));
        }
    }
}

/// The condition that a pod waits for.
pub(super) fn readiness_gate(gate: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let condition = path::text(gate, "conditionType");
    for detail in name_rule::label_key(condition) {
        errors.push(FieldError::invalid(&at.child("conditionType"), &json!(condition), detail));
    }
}

/// A volume has a name and one source.
pub(super) fn volume(volume: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let name = path::text(volume, "name");
    if !name.is_empty() {
        for detail in name_rule::dns_label(name, false) {
            errors.push(FieldError::invalid(&at.child("name"), &json!(name), detail));
        }
    }
    let sources = SOURCES.iter().filter(|source| volume.get(**source).is_some());
    for extra in sources.skip(1) {
        let detail = "may not specify more than 1 volume type";
        errors.push(FieldError::forbidden(&at.child(extra), detail));
    }
}

/// Refuses changes of an existing pod, except for a few mutable fields.
pub(super) fn update(new: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    for list in ["containers", "initContainers"] {
        let path = format!("spec.{list}");
        if path::list(new, &path).len() != path::list(old, &path).len() {
            let detail = "pod updates may not add or remove containers";
            errors.push(FieldError::forbidden(&FieldPath::new(&path), detail));
            return;
        }
    }
    if with_allowed_changes(old, new) != new["spec"] {
        let detail = "pod updates may not change fields other than \
                      `spec.containers[*].image`,`spec.initContainers[*].image`,\
                      `spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing \
                      tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 \
                      if it was previously negative)";
        errors.push(FieldError::forbidden(&FieldPath::new("spec"), detail));
    }
}

/// The old specification with those changes of the new one that are allowed.
fn with_allowed_changes(old: &Value, new: &Value) -> Value {
    let mut expected = old.clone();
    for list in ["spec.containers", "spec.initContainers"] {
        let containers = path::list_mut(&mut expected, list).iter_mut();
        for (container, changed) in containers.zip(path::list(new, list)) {
            path::copy(container, changed, "image");
        }
    }
    let deadline = |pod| path::number(pod, "spec.activeDeadlineSeconds");
    if deadline(new).is_some_and(|new| deadline(old).is_none_or(|old| new <= old)) {
        path::copy(&mut expected, new, "spec.activeDeadlineSeconds");
    }
    let added = path::list(new, "spec.tolerations");
    if path::list(old, "spec.tolerations").iter().all(|kept| added.contains(kept)) {
        path::copy(&mut expected, new, "spec.tolerations");
    }
    let grace = |pod| path::number(pod, "spec.terminationGracePeriodSeconds");
    if grace(old).is_some_and(|seconds| seconds < 0) && grace(new) == Some(1) {
        path::set(&mut expected, "spec.terminationGracePeriodSeconds", 1);
    }
    if is_gated(old) {
        path::copy(&mut expected, new, "spec.nodeSelector");
        path::copy(&mut expected, new, "spec.schedulingGates");
    }
    expected["spec"].take()
}

fn is_gated(pod: &Value) -> bool {
    !path::list(pod, "spec.schedulingGates").is_empty()
}

/// Node labels, the service account, and the name that the pod gives itself.
fn own_names(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    selector::labels(spec.get("nodeSelector"), &at.child("nodeSelector"), errors);
    let rules: [(&str, NameRule); 3] = [
        ("serviceAccountName", name_rule::dns_subdomain),
        ("hostname", name_rule::dns_label),
        ("subdomain", name_rule::dns_label),
    ];
    for (field, rule) in rules {
        let name = path::text(spec, field);
        for detail in if name.is_empty() { Vec::new() } else { rule(name, false) } {
            errors.push(FieldError::invalid(&at.child(field), &json!(name), detail));
        }
    }
}

fn unique_names<'a>(
    spec: &'a Value,
    list: &str,
    at: &FieldPath,
    known: &mut BTreeSet<&'a str>,
    errors: &mut Vec<FieldError>,
) {
    for (index, item) in path::list(spec, list).iter().enumerate() {
        let name = path::text(item, "name");
        if !name.is_empty() && !known.insert(name) {
            let at = at.child(list).index(index).child("name");
            errors.push(FieldError::duplicate(&at, &json!(name)));
        }
    }
}

/// The names of the volumes that can be mounted: those without errors.
fn mountable<'a>(spec: &'a Value, at: &FieldPath, errors: &[FieldError]) -> BTreeSet<&'a str> {
    let is_right = |index: usize| {
        let at = at.child("volumes").index(index);
        let (own_name, at) = (at.child("name").to_string(), at.to_string());
        !errors.iter().any(|error| {
            let is_duplicate = error.kind == FieldErrorKind::Duplicate && error.path == own_name;
            error.path.starts_with(&at) && !is_duplicate
        })
    };
    let volumes = path::list(spec, "volumes").iter().enumerate();
    volumes
        .filter(|(index, _)| is_right(*index))
        .map(|(_, volume)| path::text(volume, "name"))
        .collect()
}

fn mounts(
    container: &Value,
    volumes: &BTreeSet<&str>,
    at: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    let mut paths = BTreeSet::new();
    for (index, mount) in path::list(container, "volumeMounts").iter().enumerate() {
        let at = at.child("volumeMounts").index(index);
        let name = path::text(mount, "name");
        if !volumes.contains(name) {
            errors.push(FieldError {
                path: at.child("name").to_string(),
                kind: FieldErrorKind::NotFound,
                value: Some(crate::schema::go_value::print(&json!(name))),
                detail: String::new(),
            });
        }
        let path = path::text(mount, "mountPath");
        if !path.is_empty() && !paths.insert(path) {
            let detail = "must be unique";
            errors.push(FieldError::invalid(&at.child("mountPath"), &json!(path), detail));
        }
    }
}

/// The sources of a volume in the order in which the server checks them.
const SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];
