//! Defaults that are copied from elsewhere in the object or depend on free text, struct by struct,
//! and the few fields that the server keeps under two names.
//!
//! Not imitated: pod-level requests and huge page limits computed from those of the containers.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};

use super::path;

/// Changes a struct before its rules are applied to it.
pub(super) fn before_rules(name: &str, object: &mut Value) {
    match name {
        "core.v1.Pod" => pod(object),
        "core.v1.PodSpec" => service_account(object),
        "core.v1.Container" | "core.v1.EphemeralContainer" => {
            pull_policy(object, "image", "imagePullPolicy");
        }
        "core.v1.PodStatus" => pod_ips(object),
        "core.v1.NodeSpec" => pod_cidrs(object),
        "core.v1.ImageVolumeSource" => pull_policy(object, "reference", "pullPolicy"),
        "core.v1.Service" => ip_mode(object),
        "core.v1.ServiceSpec" => session_affinity(object),
        "core.v1.ServicePort" => target_port(object),
        "core.v1.Secret" => string_data(object),
        "core.v1.Namespace" => namespace_label(object),
        "core.v1.LimitRangeItem" => limit_range(object),
        "core.v1.NodeStatus" => copy_if_absent(object, "capacity", "allocatable"),
        "core.v1.ReplicationController" => replication_controller(object),
        "batch.v1.Job" => {
            copy_if_absent(object, "spec.template.metadata.labels", "metadata.labels");
        }
        "apps.v1.StatefulSetSpec" => claim_templates(object),
        "apps.v1.DaemonSet" => template_generation(object),
        "rbac.v1.Subject" => subject_group(object),
        "apiextensions.v1.CustomResourceDefinition" => custom_resource_definition(object),
        _ => {}
    }
}

/// A number that Go keeps in a field of its own, and writes as an annotation.
fn template_generation(daemon_set: &mut Value) {
    if let Some(annotations) = path::map_mut(daemon_set, "metadata.annotations") {
        annotations.entry("deprecated.daemonset.template.generation").or_insert_with(|| json!("0"));
    }
}

fn pod(pod: &mut Value) {
    let host_network = path::flag(pod, "spec.hostNetwork");
    for list in ["spec.containers", "spec.initContainers"] {
        for container in path::list_mut(pod, list) {
            merge_absent(container, "resources.limits", "resources.requests");
            if host_network {
                for port in path::list_mut(container, "ports") {
                    copy_if_absent(port, "containerPort", "hostPort");
                }
            }
        }
    }
}

/// The service account has an old name that is still written.
fn service_account(spec: &mut Value) {
    copy_if_absent(spec, "serviceAccount", "serviceAccountName");
    if let Some(name) = path::get(spec, "serviceAccountName").cloned() {
        path::set(spec, "serviceAccount", name);
    }
}

/// The first address has a field of its own; where the two differ, that one wins.
fn pod_ips(status: &mut Value) {
    let single = path::text(status, "podIP").to_owned();
    let first = path::list(status, "podIPs").first().map(|address| path::text(address, "ip"));
    match first {
        Some(first) if single.is_empty() => path::set(status, "podIP", first.to_owned()),
        first if !single.is_empty() && first != Some(&single) => {
            path::set(status, "podIPs", json!([{ "ip": single }]));
        }
        _ => {}
    }
}

/// The same for the address range of a node.
fn pod_cidrs(spec: &mut Value) {
    let single = path::text(spec, "podCIDR").to_owned();
    let first = path::list(spec, "podCIDRs").first().and_then(Value::as_str);
    match first {
        Some(first) if single.is_empty() => path::set(spec, "podCIDR", first.to_owned()),
        first if !single.is_empty() && first != Some(&single) => {
            path::set(spec, "podCIDRs", json!([single]));
        }
        _ => {}
    }
}

fn pull_policy(object: &mut Value, image: &str, policy: &str) {
    let chosen = if is_latest(path::text(object, image)) { "Always" } else { "IfNotPresent" };
    path::set_if_absent(object, policy, chosen);
}

/// Whether an image reference means the tag `latest`: a digest alone does not, nor does what is no
/// reference.
fn is_latest(image: &str) -> bool {
    let (name, has_digest) = image.split_once('@').map_or((image, false), |(name, _)| (name, true));
    let last = name.rsplit('/').next().unwrap_or_default();
    if image.contains(char::is_whitespace) || is_upper(last) {
        return false;
    }
    match last.split_once(':') {
        Some((_, tag)) => tag == "latest",
        None => !has_digest && !last.is_empty(),
    }
}

/// Names of images are lower case; tags need not be.
fn is_upper(last: &str) -> bool {
    let name = last.split(':').next().unwrap_or_default();
    name.contains(|c: char| c.is_ascii_uppercase())
}

/// An address of a load balancer is a virtual one unless it says otherwise.
fn ip_mode(service: &mut Value) {
    if path::text(service, "spec.type") != "LoadBalancer" {
        return;
    }
    for ingress in path::list_mut(service, "status.loadBalancer.ingress") {
        if !path::text(ingress, "ip").is_empty() {
            path::set_if_absent(ingress, "ipMode", "VIP");
        }
    }
}

fn session_affinity(spec: &mut Value) {
    if path::text(spec, "sessionAffinity") != "ClientIP" {
        path::remove(spec, "sessionAffinityConfig");
    }
}

fn target_port(port: &mut Value) {
    if path::text(port, "targetPort").is_empty() && path::number(port, "targetPort").is_none() {
        let number = path::number(port, "port").unwrap_or_default();
        path::set(port, "targetPort", number);
    }
}

/// `stringData` is written, never read.
fn string_data(secret: &mut Value) {
    let given = path::get(secret, "stringData").and_then(Value::as_object).cloned();
    path::remove(secret, "stringData");
    for (name, text) in given.unwrap_or_default() {
        let encoded = BASE64_STANDARD.encode(text.as_str().unwrap_or_default());
        if let Some(data) = path::map_mut(secret, "data") {
            data.insert(name, Value::from(encoded));
        }
    }
}

fn namespace_label(namespace: &mut Value) {
    let name = path::text(namespace, "metadata.name").to_owned();
    if name.is_empty() {
        return;
    }
    if let Some(labels) = path::map_mut(namespace, "metadata.labels") {
        labels.insert("kubernetes.io/metadata.name".to_owned(), Value::from(name));
    }
}

fn limit_range(item: &mut Value) {
    if path::text(item, "type") == "Container" {
        merge_absent(item, "max", "default");
        merge_absent(item, "default", "defaultRequest");
        merge_absent(item, "min", "defaultRequest");
    }
}

fn replication_controller(controller: &mut Value) {
    copy_if_absent(controller, "spec.template.metadata.labels", "spec.selector");
    copy_if_absent(controller, "spec.template.metadata.labels", "metadata.labels");
}

/// Claim templates are complete objects.
fn claim_templates(spec: &mut Value) {
    for claim in path::list_mut(spec, "volumeClaimTemplates") {
        path::set(claim, "apiVersion", "v1");
        path::set(claim, "kind", "PersistentVolumeClaim");
    }
}

fn subject_group(subject: &mut Value) {
    if matches!(path::text(subject, "kind"), "User" | "Group") {
        path::set_if_absent(subject, "apiGroup", "rbac.authorization.k8s.io");
    }
}

fn custom_resource_definition(definition: &mut Value) {
    let kind = path::text(definition, "spec.names.kind").to_owned();
    if !kind.is_empty() {
        path::set_if_absent(definition, "spec.names.singular", kind.to_lowercase());
        path::set_if_absent(definition, "spec.names.listKind", format!("{kind}List"));
    }
    let is_stored = |version: &&Value| path::flag(version, "storage");
    let stored = path::list(definition, "spec.versions").iter().find(is_stored);
    if let Some(name) = stored.and_then(|version| version.get("name")).cloned() {
        path::set_if_absent(definition, "status.storedVersions", vec![name]);
    }
}

fn copy_if_absent(object: &mut Value, from: &str, to: &str) {
    if let Some(value) = path::get(object, from).cloned() {
        path::set_if_absent(object, to, value);
    }
}

/// Gives the map at `to` the entries of the map at `from` that it has not.
fn merge_absent(object: &mut Value, from: &str, to: &str) {
    let entries: Map<String, Value> =
        path::get(object, from).and_then(Value::as_object).cloned().unwrap_or_default();
    if entries.is_empty() {
        return;
    }
    if let Some(target) = path::map_mut(object, to) {
        for (name, value) in entries {
            target.entry(name).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_latest;

    #[test]
    fn an_image_is_the_latest_by_tag_or_for_lack_of_one() {
        for image in
            ["nginx", "nginx:latest", "registry:5000/a/nginx", "r:5000/nginx:latest@sha256:abc"]
        {
            assert!(is_latest(image), "{image}");
        }
        for image in ["", " ", "Nginx", "nginx:1.27", "nginx@sha256:abc", "registry:5000/nginx:1"] {
            assert!(!is_latest(image), "{image}");
        }
    }
}
