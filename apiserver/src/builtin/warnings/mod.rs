//! What the real server accepts and warns of, by type: the `Warning` headers of an answer.
//!
//! ```text
//!  valid object ─┬─ its own fields ─ here
//!                └─ its pod template ─ pod
//! ```
//!
//! **Invariant**: a warning never changes what is stored. Unknown fields and duplicate keys are warned of where they
//! are read. Not here: non-canonical addresses.

mod pod;

use serde_json::Value;

use super::{catalog::BuiltinType, path};
use crate::schema::{FieldPath, name_rule};

/// What every answer about a deprecated type warns of.
pub fn deprecation(ty: &BuiltinType) -> Option<String> {
    (ty.group.is_empty() && ty.kind == "Endpoints").then(|| {
        "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice".to_owned()
    })
}

/// What a deletion without a propagation policy is warned of.
pub fn warnings_of_deletion(ty: &BuiltinType) -> Option<&'static str> {
    ((ty.group, ty.kind) == ("batch", "Job")).then_some(
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background \
         to remove them or set propagationPolicy=Orphan to suppress this warning",
    )
}

/// What a valid object is warned of; `old` is the live form of one that is changed.
pub fn warnings(ty: &BuiltinType, new: &Value, old: Option<&Value>) -> Vec<String> {
    let mut warnings = match (ty.group, ty.kind) {
        ("", "Service") => service(&new["spec"]),
        ("discovery.k8s.io", "EndpointSlice") if old.is_none() && new["addressType"] == "FQDN" => {
            vec!["spec.addressType: FQDN endpoints are deprecated".to_owned()]
        }
        ("networking.k8s.io", "Ingress") if old.is_none() => ingress(new),
        ("apps", "StatefulSet") => stateful_set(&new["spec"]),
        ("batch", "CronJob") if old.is_some() => cron_job(&new["spec"]),
        _ => Vec::new(),
    };
    warnings.splice(0..0, of_pods(ty, new, old));
    warnings
}

/// Of the pods that the object is or makes. Only a change of the specification is looked at.
fn of_pods(ty: &BuiltinType, new: &Value, old: Option<&Value>) -> Vec<String> {
    let Some((template, names)) = template(ty) else { return Vec::new() };
    let generation = |object: &Value| object["metadata"]["generation"].clone();
    if old.is_some_and(|old| generation(old) == generation(new)) {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    if let (None, Some(names)) = (old, names) {
        warnings.extend(name(new, names));
    }
    let at = template.iter().fold(FieldPath::root(), |at, field| at.child(field));
    let pod = template.iter().fold(new, |value, field| &value[*field]);
    warnings.extend(pod::warnings(&at, pod));
    warnings
}

const IN_PODS: &str = "in Pod names and hostnames";

/// Where the pod template is, and what the name of the object is used in.
fn template(ty: &BuiltinType) -> Option<(&'static [&'static str], Option<&'static str>)> {
    Some(match (ty.group, ty.kind) {
        ("", "Pod") => (&[], Some("in the Pod's hostname")),
        ("", "PodTemplate") => (&["template"], None),
        ("", "ReplicationController")
        | ("apps", "Deployment" | "ReplicaSet")
        | ("batch", "Job") => (&["spec", "template"], Some(IN_PODS)),
        ("apps", "StatefulSet" | "DaemonSet") => (&["spec", "template"], None),
        ("batch", "CronJob") => (&["spec", "jobTemplate", "spec", "template"], Some(IN_PODS)),
        _ => return None,
    })
}

fn name(object: &Value, used: &str) -> Option<String> {
    let wrong = name_rule::dns_label(path::text(object, "metadata.name"), false);
    (!wrong.is_empty()).then(|| {
        format!(
            "metadata.name: this is used {used}, which can result in surprising behavior; \
             a DNS label is recommended: [{}]",
            wrong.join(" ")
        )
    })
}

fn service(spec: &Value) -> Vec<String> {
    let is_set = |field: &str| spec[field].as_str().is_some_and(|text| !text.is_empty());
    let has_external = spec["externalIPs"].as_array().is_some_and(|list| !list.is_empty());
    let is_headless = spec["type"] == "ClusterIP" && spec["clusterIP"] == "None";
    let is_external_name = spec["type"] == "ExternalName";
    let cases = [
        (
            is_headless && is_set("loadBalancerIP"),
            "spec.loadBalancerIP is ignored for headless services",
        ),
        (is_headless && has_external, "spec.externalIPs is ignored for headless services"),
        (
            is_headless && spec["sessionAffinity"] != "None",
            "spec.SessionAffinity is ignored for headless services",
        ),
        (
            has_external && !is_headless && !is_external_name,
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
        ),
        (
            has_external && is_external_name,
            "spec.externalIPs is ignored when spec.type is \"ExternalName\"",
        ),
        (
            is_set("externalName") && !is_external_name,
            "spec.externalName is ignored when spec.type is not \"ExternalName\"",
        ),
        (
            spec["trafficDistribution"] == "PreferClose",
            "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"",
        ),
    ];
    cases.into_iter().filter(|(holds, _)| *holds).map(|(_, text)| text.to_owned()).collect()
}

fn ingress(ingress: &Value) -> Vec<String> {
    const CLASS: &str = "kubernetes.io/ingress.class";
    let is_old = !ingress["metadata"]["annotations"][CLASS].is_null()
        && ingress["spec"]["ingressClassName"].is_null();
    let text = || {
        format!("annotation {CLASS:?} is deprecated, please use 'spec.ingressClassName' instead")
    };
    is_old.then(text).into_iter().collect()
}

fn stateful_set(spec: &Value) -> Vec<String> {
    let is_negative = spec["revisionHistoryLimit"].as_i64().is_some_and(|limit| limit < 0);
    let text = "spec.revisionHistoryLimit: a negative value retains all historical revisions; \
                a value >= 0 is recommended";
    is_negative.then(|| text.to_owned()).into_iter().collect()
}

fn cron_job(spec: &Value) -> Vec<String> {
    let has_zone = spec["schedule"].as_str().is_some_and(|text| text.contains("TZ"));
    let text = "cannot use TZ or CRON_TZ in spec.schedule, use timeZone instead, see \
                https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";
    has_zone.then(|| text.to_owned()).into_iter().collect()
}
