//! Which quotas an object counts for: their scopes, and what a quota on compute resources demands.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{amounts::Amounts, pod, usage};
use crate::group_resource::GroupResource;

/// What each container must ask for when a quota is about it.
const DEMANDED: [&str; 6] =
    ["cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"];

/// Whether an object counts for a quota with these bounds.
pub(super) fn matches(
    quota: &Value,
    hard: &Amounts,
    resource: &GroupResource,
    object: &Value,
) -> bool {
    hard.keys().any(|name| usage::counts(resource, name)) && in_scopes(quota, resource, object)
}

/// What a pod does not ask for although a quota demands it.
pub(super) fn missing(hard: &Amounts, resource: &GroupResource, object: &Value) -> Option<String> {
    let is_pod = resource.group.is_empty() && resource.plural == "pods";
    let whole = &object["spec"]["resources"];
    if !is_pod || whole["requests"].is_object() || whole["limits"].is_object() {
        return None;
    }
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for container in pod::containers(object) {
        let used = |field| pod::of_container(container, field);
        let usage = usage::computed(&used("requests"), &used("limits"));
        let demanded = DEMANDED.iter().filter(|name| hard.contains_key(**name));
        for name in demanded.filter(|name| !usage.contains_key(**name)) {
            let container = container["name"].as_str().unwrap_or_default();
            missing.entry(name).or_default().insert(container);
        }
    }
    let parts: Vec<String> = missing
        .iter()
        .map(|(name, names)| {
            let names: Vec<_> = names.iter().copied().collect();
            format!("{name} for: {}", names.join(","))
        })
        .collect();
    (!parts.is_empty()).then(|| format!("must specify {}", parts.join("; ")))
}

fn in_scopes(quota: &Value, resource: &GroupResource, object: &Value) -> bool {
    let spec = &quota["spec"];
    let plain = spec["scopes"].as_array().into_iter().flatten();
    let plain = plain.filter_map(Value::as_str).map(|scope| (scope, &Value::Null));
    let selected = spec["scopeSelector"]["matchExpressions"].as_array().into_iter().flatten();
    let selected = selected.map(|it| (it["scopeName"].as_str().unwrap_or_default(), it));
    let is_pod = resource.group.is_empty() && resource.plural == "pods";
    plain.chain(selected).all(|(scope, selector)| is_pod && pod_in(scope, selector, object))
}

fn pod_in(scope: &str, selector: &Value, pod: &Value) -> bool {
    match scope {
        "Terminating" => is_terminating(pod),
        "NotTerminating" => !is_terminating(pod),
        "BestEffort" => is_best_effort(pod),
        "NotBestEffort" => !is_best_effort(pod),
        "PriorityClass" => has_priority(selector, pod),
        "CrossNamespacePodAffinity" => crosses_namespaces(pod),
        _ => false,
    }
}

/// Whether a pod ends by itself.
pub(super) fn is_terminating(pod: &Value) -> bool {
    pod["spec"]["activeDeadlineSeconds"].as_i64().is_some_and(|seconds| seconds >= 0)
}

fn is_best_effort(pod: &Value) -> bool {
    let asks = |field| {
        let of_containers = pod::containers(pod).map(|it| pod::of_container(it, field));
        let is_compute = |name: &String| matches!(name.as_str(), "cpu" | "memory");
        of_containers.flatten().any(|(name, amount)| is_compute(&name) && amount.is_positive())
    };
    !asks("requests") && !asks("limits")
}

fn has_priority(selector: &Value, pod: &Value) -> bool {
    let class = pod["spec"]["priorityClassName"].as_str().filter(|class| !class.is_empty());
    let values = selector["values"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut values = values.filter(|value| Some(*value) == class);
    match selector["operator"].as_str() {
        Some("In") => values.next().is_some(),
        Some("NotIn") => values.next().is_none(),
        Some("DoesNotExist") => class.is_none(),
        _ => class.is_some(),
    }
}

fn crosses_namespaces(pod: &Value) -> bool {
    let crosses = |term: &Value| {
        term["namespaces"].as_array().is_some_and(|names| !names.is_empty())
            || term["namespaceSelector"].is_object()
    };
    ["podAffinity", "podAntiAffinity"].into_iter().any(|kind| {
        let affinity = &pod["spec"]["affinity"][kind];
        let list = |field: &str| affinity[field].as_array().into_iter().flatten();
        list("requiredDuringSchedulingIgnoredDuringExecution").any(crosses)
            || list("preferredDuringSchedulingIgnoredDuringExecution")
                .any(|term| crosses(&term["podAffinityTerm"]))
    })
}
