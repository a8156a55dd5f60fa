//! What pods and pod templates are warned of: what has no effect, hides something, or matches nothing.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{builtin::path, schema::FieldPath};

const NO_SELECTOR: &str = "a null labelSelector results in matching no pod";

/// The warnings about the pod, or template, at this path.
pub(super) fn warnings(at: &FieldPath, pod: &Value) -> Vec<String> {
    let (at, spec) = (at.child("spec"), &pod["spec"]);
    let mut warnings = spreading(spec, &at);
    warnings.extend(duplicates(spec, &at, "hostAliases", "ip"));
    warnings.extend(duplicates(spec, &at, "imagePullSecrets", "name"));
    warnings.extend(unnamed_secrets(spec, &at));
    let containers = containers(spec, &at);
    for (at, container) in &containers {
        warnings.extend(hidden_variables(container, at));
    }
    warnings.extend(ports(&containers));
    warnings.extend(port_names(&containers));
    if path::number(spec, "terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0) {
        let why = "must be >= 0; negative values are invalid and will be treated as 1";
        warnings.push(format!("{}: {why}", at.child("terminationGracePeriodSeconds")));
    }
    warnings.extend(affinity(spec, &at));
    warnings
}

/// In the order in which the real server visits them.
fn containers<'a>(spec: &'a Value, at: &FieldPath) -> Vec<(FieldPath, &'a Value)> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    let of_list = |list: &'static str| {
        let found = path::list(spec, list).iter().enumerate();
        found.map(move |(index, container)| (at.child(list).index(index), container))
    };
    lists.into_iter().flat_map(of_list).collect()
}

fn spreading(spec: &Value, at: &FieldPath) -> Vec<String> {
    let at = at.child("topologySpreadConstraints");
    without_selector(
        path::list(spec, "topologySpreadConstraints"),
        &at,
        |rule| rule,
        "labelSelector",
    )
}

fn without_selector(
    rules: &[Value],
    at: &FieldPath,
    inner: impl Fn(&Value) -> &Value,
    selector: &str,
) -> Vec<String> {
    let rules = rules.iter().enumerate();
    let empty = rules.filter(|(_, rule)| inner(rule)["labelSelector"].is_null());
    empty.map(|(index, _)| format!("{}: {NO_SELECTOR}", at.index(index).child(selector))).collect()
}

fn affinity(spec: &Value, at: &FieldPath) -> Vec<String> {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    let mut warnings = Vec::new();
    for kind in ["podAffinity", "podAntiAffinity"] {
        let (at, rules) = (at.child("affinity").child(kind), &spec["affinity"][kind]);
        let required = path::list(rules, REQUIRED);
        warnings.extend(without_selector(
            required,
            &at.child(REQUIRED),
            |term| term,
            "labelSelector",
        ));
        warnings.extend(without_selector(
            path::list(rules, PREFERRED),
            &at.child(PREFERRED),
            |term| &term["podAffinityTerm"],
            "podAffinityTerm.labelSelector",
        ));
    }
    warnings
}

fn duplicates(spec: &Value, at: &FieldPath, list: &str, field: &str) -> Vec<String> {
    let mut seen = Vec::new();
    let mut warnings = Vec::new();
    for (index, item) in path::list(spec, list).iter().enumerate() {
        let value = path::text(item, field);
        if seen.contains(&value) {
            let at = at.child(list).index(index).child(field);
            warnings.push(format!("{at}: duplicate {field} {value:?}"));
        }
        seen.push(value);
    }
    warnings
}

fn unnamed_secrets(spec: &Value, at: &FieldPath) -> Vec<String> {
    let secrets = path::list(spec, "imagePullSecrets").iter().enumerate();
    let unnamed = secrets.filter(|(_, secret)| path::text(secret, "name").is_empty());
    let at = |index| at.child("imagePullSecrets").index(index).child("name");
    unnamed.map(|(index, _)| format!("{}: invalid empty name \"\"", at(index))).collect()
}

/// Variables that replace one of the same name without a reference to it.
fn hidden_variables(container: &Value, at: &FieldPath) -> Vec<String> {
    let mut seen = Vec::new();
    let mut warnings = Vec::new();
    for (index, variable) in path::list(container, "env").iter().enumerate() {
        let (name, value) = (path::text(variable, "name"), path::text(variable, "value"));
        let reference = format!("$({name})");
        let extends = value.contains(&reference) && value != reference;
        if seen.contains(&name) && (!extends || !variable["valueFrom"].is_null()) {
            warnings.push(format!(
                "{}: hides previous definition of {name:?}, which may be dropped when using apply",
                at.child("env").index(index)
            ));
        }
        seen.push(name);
    }
    warnings
}

/// Ports of the same number and protocol, in one container or several.
fn ports(containers: &[(FieldPath, &Value)]) -> Vec<String> {
    let mut known: BTreeMap<String, Vec<(FieldPath, &Value)>> = BTreeMap::new();
    let mut warnings = Vec::new();
    for (at, port) in all_ports(containers) {
        let protocol = path::text(port, "protocol");
        let number = path::number(port, "containerPort").unwrap_or_default();
        let others = known.entry(format!("{number}/{protocol}")).or_default();
        for (other_at, other) in others.iter() {
            if let Some(how) = overlap(port, other) {
                warnings.push(format!("{at}: {how} port definition with {other_at}"));
            }
        }
        others.push((at, port));
    }
    warnings
}

fn overlap(port: &Value, other: &Value) -> Option<&'static str> {
    let place = |port: &Value| {
        let number = path::number(port, "hostPort").unwrap_or_default();
        (path::text(port, "hostIP").to_owned(), number)
    };
    let ((ip, port), (other_ip, other_port)) = (place(port), place(other));
    if (&ip, port) == (&other_ip, other_port) {
        Some("duplicate")
    } else if port == 0 || other_port == 0 {
        Some("overlapping")
    } else {
        let is_ambiguous = port == other_port && ip.is_empty() != other_ip.is_empty();
        is_ambiguous.then_some("dangerously ambiguous")
    }
}

fn port_names(containers: &[(FieldPath, &Value)]) -> Vec<String> {
    let mut known: BTreeMap<&str, FieldPath> = BTreeMap::new();
    let mut warnings = Vec::new();
    for (at, port) in all_ports(containers) {
        let name = path::text(port, "name");
        match known.get(name) {
            _ if name.is_empty() => {}
            Some(other) => warnings.push(format!(
                "{at}: duplicate port name {name:?} with {other}, services and probes that select \
                 ports by name will use {other}"
            )),
            None => {
                known.insert(name, at);
            }
        }
    }
    warnings
}

fn all_ports<'a>(
    containers: &'a [(FieldPath, &'a Value)],
) -> impl Iterator<Item = (FieldPath, &'a Value)> {
    containers.iter().flat_map(|(at, container)| {
        let ports = path::list(container, "ports").iter().enumerate();
        ports.map(move |(index, port)| (at.child("ports").index(index), port))
    })
}
