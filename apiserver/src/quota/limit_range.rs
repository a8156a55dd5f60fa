//! Limit ranges: the resources that containers get, and the bounds of containers, pods and claims.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::{
    amounts::{self, Amounts},
    pod,
};
use crate::quantity::Quantity;

const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// Gives the containers of a pod the resources that they do not ask for.
pub(crate) fn default_pod(range: &Value, pod: &mut Value) {
    let (mut limits, mut requests) = (Amounts::new(), Amounts::new());
    for limit in items(range).filter(|limit| limit["type"] == "Container") {
        limits.extend(amounts::of(&limit["default"]));
        requests.extend(amounts::of(&limit["defaultRequest"]));
    }
    let mut given = Vec::new();
    for (field, what) in [("containers", "container"), ("initContainers", "init container")] {
        for container in
            pod["spec"].get_mut(field).and_then(Value::as_array_mut).into_iter().flatten()
        {
            for (kind, defaults, word) in
                [("requests", &requests, "request"), ("limits", &limits, "limit")]
            {
                let names = fill(container, kind, defaults);
                let name = container["name"].as_str().unwrap_or_default();
                if !names.is_empty() {
                    given.push(format!("{} {word} for {what} {name}", names.join(", ")));
                }
            }
        }
    }
    if !given.is_empty() {
        let text = format!("LimitRanger plugin set: {}", given.join("; "));
        if !pod["metadata"]["annotations"].is_object() {
            pod["metadata"]["annotations"] = json!({});
        }
        pod["metadata"]["annotations"][ANNOTATION] = json!(text);
    }
}

/// The names of what was not there.
fn fill(container: &mut Value, kind: &str, defaults: &Amounts) -> Vec<String> {
    let mut names = Vec::new();
    for (name, amount) in defaults {
        let list = &mut container["resources"][kind];
        if !list.is_object() {
            *list = json!({});
        }
        if list.get(name).is_none() {
            list[name] = json!(amount.to_string());
            names.push(name.clone());
        }
    }
    names
}

/// What an object breaks, if it breaks something; `plural` is `pods` or `persistentvolumeclaims`.
pub(crate) fn violation(range: &Value, plural: &str, object: &Value) -> Option<String> {
    let mut errors = Vec::new();
    for limit in items(range) {
        match (plural, limit["type"].as_str()) {
            ("pods", Some("Container")) => {
                for container in pod::containers(object) {
                    let used = |field| pod::of_container(container, field);
                    errors.extend(broken(limit, "Container", &used("requests"), &used("limits")));
                }
            }
            ("pods", Some("Pod")) => {
                let used = |field| pod::resources(object, field);
                errors.extend(broken(limit, "Pod", &used("requests"), &used("limits")));
            }
            ("persistentvolumeclaims", Some("PersistentVolumeClaim")) => {
                let used = amounts::of(&object["spec"]["resources"]["requests"]);
                errors.extend(of_claim(limit, &used));
            }
            _ => {}
        }
    }
    let mut unique: Vec<String> = Vec::new();
    for error in errors {
        if !unique.contains(&error) {
            unique.push(error);
        }
    }
    match unique.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(format!("[{}]", many.join(", "))),
    }
}

fn broken(limit: &Value, ty: &str, requests: &Amounts, limits: &Amounts) -> Vec<String> {
    let mut errors = Vec::new();
    for (name, least) in amounts::of(&limit["min"]) {
        errors.extend(below(&name, ty, least, requests.get(&name), limits.get(&name)));
    }
    for (name, most) in amounts::of(&limit["max"]) {
        let above = |amount: &Quantity| amount.compare(most) == Ordering::Greater;
        let bound = format!("maximum {name} usage per {ty} is {most}");
        match (limits.get(&name), requests.get(&name)) {
            (None, _) => errors.push(format!("{bound}.  No limit is specified")),
            (Some(limit), _) if above(limit) => {
                errors.push(format!("{bound}, but limit is {limit}"));
            }
            (_, Some(request)) if above(request) => {
                errors.push(format!("{bound}, but request is {request}"));
            }
            _ => {}
        }
    }
    for (name, most) in amounts::of(&limit["maxLimitRequestRatio"]) {
        let bound = format!("{name} max limit to request ratio per {ty} is {most}");
        let positive =
            |amounts: &Amounts| amounts.get(&name).copied().filter(|it| it.is_positive());
        match (positive(requests), positive(limits)) {
            (None, _) => {
                errors.push(format!("{bound}, but no request is specified or request is 0"));
            }
            (_, None) => errors.push(format!("{bound}, but no limit is specified or limit is 0")),
            (Some(request), Some(limit)) => {
                let ratio = limit.as_float() / request.as_float();
                if ratio > most.as_float() {
                    errors.push(format!("{bound}, but provided ratio is {ratio:.6}"));
                }
            }
        }
    }
    errors
}

fn below(
    name: &str,
    ty: &str,
    least: Quantity,
    request: Option<&Quantity>,
    limit: Option<&Quantity>,
) -> Option<String> {
    let is_below = |amount: &Quantity| amount.compare(least) == Ordering::Less;
    let bound = format!("minimum {name} usage per {ty} is {least}");
    match (request, limit) {
        (None, _) => Some(format!("{bound}.  No request is specified")),
        (Some(request), _) if is_below(request) => {
            Some(format!("{bound}, but request is {request}"))
        }
        (_, Some(limit)) if is_below(limit) => Some(format!("{bound}, but limit is {limit}")),
        _ => None,
    }
}

fn of_claim(limit: &Value, requests: &Amounts) -> Vec<String> {
    let ty = "PersistentVolumeClaim";
    let mut errors: Vec<String> = amounts::of(&limit["min"])
        .into_iter()
        .filter_map(|(name, least)| below(&name, ty, least, requests.get(&name), None))
        .collect();
    for (name, most) in amounts::of(&limit["max"]) {
        let bound = format!("maximum {name} usage per {ty} is {most}");
        match requests.get(&name) {
            None => errors.push(format!("{bound}.  No request is specified")),
            Some(request) if request.compare(most) == Ordering::Greater => {
                errors.push(format!("{bound}, but request is {request}"));
            }
            Some(_) => {}
        }
    }
    errors
}

fn items(range: &Value) -> impl Iterator<Item = &Value> {
    range["spec"]["limits"].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_get_what_they_do_not_ask_for() {
        let range = json!({"spec": {"limits": [{
            "type": "Container", "default": {"cpu": "500m"}, "defaultRequest": {"cpu": "100m", "memory": "1Mi"},
        }]}});
        let mut pod = json!({"metadata": {}, "spec": {"containers": [
            {"name": "a", "resources": {"requests": {"cpu": "1"}}}, {"name": "b"},
        ]}});
        default_pod(&range, &mut pod);
        let containers = &pod["spec"]["containers"];
        assert_eq!(containers[0]["resources"]["requests"], json!({"cpu": "1", "memory": "1Mi"}));
        assert_eq!(containers[1]["resources"]["limits"], json!({"cpu": "500m"}));
        assert_eq!(
            pod["metadata"]["annotations"][ANNOTATION],
            "LimitRanger plugin set: memory request for container a; cpu limit for container a; \
             cpu, memory request for container b; cpu limit for container b"
        );
    }
}
