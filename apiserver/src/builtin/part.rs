//! Writes of one part of an object through a subresource: the containers for debugging of a Pod, the resources of
//! its containers, the approval of a request for a certificate.
//!
//! What else the object says is ignored. A difference in a refusal is not shown: the real server prints it as Go.

use serde_json::{Value, json};

use super::{
    catalog::BuiltinType, defaulting::default, ephemeral, path, pod, validate::validate_pod,
};
use crate::schema::{FieldError, FieldPath};

/// A part that has a path of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `spec.ephemeralContainers` of a Pod.
    EphemeralContainers,
    /// The resources of the containers of a Pod.
    Resize,
    /// `status.conditions` of a request for a certificate.
    Approval,
}

const MIRROR: &str = "kubernetes.io/config.mirror";

/// Prepares the successor of `old`, of which only the part may differ.
pub fn prepare_for_part(ty: &BuiltinType, part: Part, new: &mut Value, old: &Value, now: &str) {
    keep_part(part, new, old);
    path::copy(new, old, "metadata.generation");
    if part == Part::Approval {
        complete_conditions(new, old, now);
        return;
    }
    default(ty, new);
    if path::get(new, "spec") != path::get(old, "spec") {
        let generation = path::number(old, "metadata.generation").unwrap_or_default();
        path::set(new, "metadata.generation", generation + 1);
    }
}

/// Why the successor of `old` is refused; empty when it is not.
pub fn validate_part(part: Part, new: &Value, old: &Value) -> Vec<FieldError> {
    let is_static = old["metadata"]["annotations"].get(MIRROR).is_some();
    let refused = |detail: &str| vec![FieldError::forbidden(&FieldPath::root(), detail)];
    let windows = path::text(old, "spec.os.name") == "windows";
    match part {
        Part::Approval => Vec::new(),
        Part::EphemeralContainers if is_static => {
            refused("static pods do not support ephemeral containers")
        }
        Part::Resize if is_static => refused("static pods cannot be resized"),
        Part::Resize if windows => refused("windows pods cannot be resized"),
        Part::EphemeralContainers => [validate_pod(new), ephemeral::check_kept(new, old)].concat(),
        Part::Resize => [validate_pod(new), resized(new, old)].concat(),
    }
}

/// Gives the conditions of a request for a certificate the times that they lack.
pub fn complete_conditions(new: &mut Value, old: &Value, now: &str) {
    let known = path::list(old, "status.conditions").to_vec();
    for condition in path::list_mut(new, "status.conditions") {
        if condition["lastUpdateTime"].is_null() {
            condition["lastUpdateTime"] = json!(now);
        }
        if condition["lastTransitionTime"].is_null() {
            let same = known.iter().find(|known| {
                known["type"] == condition["type"]
                    && known["status"] == condition["status"]
                    && !known["lastTransitionTime"].is_null()
            });
            let time = same.map_or_else(|| json!(now), |same| same["lastTransitionTime"].clone());
            condition["lastTransitionTime"] = time;
        }
    }
}

/// Takes from the new object the part alone, and everything else from the old one, but its metadata.
fn keep_part(part: Part, new: &mut Value, old: &Value) {
    let sent = std::mem::replace(new, old.clone());
    if let Some(metadata) = sent.get("metadata") {
        new["metadata"] = metadata.clone();
    }
    match part {
        Part::EphemeralContainers => path::copy(new, &sent, "spec.ephemeralContainers"),
        Part::Approval => path::copy(new, &sent, "status.conditions"),
        Part::Resize => keep_resources(new, &sent),
    }
}

fn keep_resources(new: &mut Value, sent: &Value) {
    path::copy(new, sent, "spec.resources");
    for list in ["spec.containers", "spec.initContainers"] {
        let given = path::list(sent, list);
        let kept = path::list(new, list);
        let names = |list: &[Value]| -> Vec<Value> {
            list.iter().map(|container| container["name"].clone()).collect()
        };
        if names(given) != names(kept) {
            // Validation refuses it.
            path::copy(new, sent, list);
            continue;
        }
        for (container, given) in path::list_mut(new, list).iter_mut().zip(given) {
            path::copy(container, given, "resources");
            path::copy(container, given, "resizePolicy");
        }
    }
}

fn resized(new: &Value, old: &Value) -> Vec<FieldError> {
    let spec = FieldPath::new("spec");
    let mut errors = Vec::new();
    let class = pod::quality_of_service(new);
    if path::text(old, "status.qosClass") != class {
        let detail = "Pod QOS Class may not change as a result of resizing";
        let class = path::get(new, "status.qosClass").unwrap_or(&Value::Null);
        errors.push(FieldError::invalid(&spec, class, detail));
    }
    let order = container_order(new, old);
    if !order.is_empty() {
        errors.extend(order);
        return errors;
    }
    for list in ["initContainers", "containers"] {
        let path = format!("spec.{list}");
        let pairs = path::list(new, &path).iter().zip(path::list(old, &path));
        for (index, (new, old)) in pairs.enumerate() {
            let at = spec.child(list).index(index).child("resources");
            for (amounts, what) in [("requests", "requests"), ("limits", "limits")] {
                let list = format!("resources.{amounts}");
                if loses_one(path::get(new, &list), path::get(old, &list)) {
                    let detail = format!("resource {what} cannot be removed");
                    errors.push(FieldError::forbidden(&at.child(amounts), detail));
                }
            }
        }
    }
    let changes_other = |list: &str| {
        path::list(new, list).iter().zip(path::list(old, list)).any(|(new, old)| {
            without_processor_and_memory(new) != without_processor_and_memory(old)
        })
    };
    if changes_other("spec.containers") {
        errors.push(FieldError::forbidden(&spec, "only cpu and memory resources are mutable"));
    }
    let inits = path::list(new, "spec.initContainers").iter();
    for (index, (new, old)) in inits.zip(path::list(old, "spec.initContainers")).enumerate() {
        let at = spec.child("initContainers").index(index);
        if new != old && path::text(new, "restartPolicy") != "Always" {
            let detail = "resources for non-sidecar init containers are immutable";
            errors.push(FieldError::forbidden(&spec, detail));
        } else if without_processor_and_memory(new) != without_processor_and_memory(old) {
            let detail = "only cpu and memory resources for init or sidecar containers are mutable";
            errors.push(FieldError::forbidden(&at, detail));
        }
    }
    errors
}

/// Containers are neither added, removed, renamed nor reordered.
fn container_order(new: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for list in ["containers", "initContainers"] {
        let (path, at) = (format!("spec.{list}"), FieldPath::new("spec").child(list));
        let (new, old) = (path::list(new, &path), path::list(old, &path));
        if new.len() != old.len() {
            let detail = format!("{list} may not be added or removed on resize");
            errors.push(FieldError::forbidden(&at, detail));
            continue;
        }
        for (index, (new, old)) in new.iter().zip(old).enumerate() {
            if new["name"] != old["name"] {
                let detail = format!("{list} may not be renamed or reordered on resize");
                errors.push(FieldError::forbidden(&at.index(index).child("name"), detail));
            }
        }
    }
    errors
}

fn loses_one(new: Option<&Value>, old: Option<&Value>) -> bool {
    let old = old.and_then(Value::as_object).into_iter().flatten();
    old.into_iter().any(|(name, _)| new.is_none_or(|new| new.get(name).is_none()))
}

fn without_processor_and_memory(container: &Value) -> Value {
    let mut container = container.clone();
    for list in ["resources.requests", "resources.limits"] {
        for name in ["cpu", "memory"] {
            path::remove(&mut container, &format!("{list}.{name}"));
        }
        if path::get(&container, list)
            .and_then(Value::as_object)
            .is_some_and(serde_json::Map::is_empty)
        {
            path::remove(&mut container, list);
        }
    }
    container
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_part_changes() {
        let old = json!({ "metadata": {}, "spec": { "nodeName": "a", "containers": [] } });
        let mut new =
            json!({ "metadata": {}, "spec": { "ephemeralContainers": [{ "name": "x" }] } });
        keep_part(Part::EphemeralContainers, &mut new, &old);
        assert_eq!(
            new["spec"],
            json!({ "nodeName": "a", "containers": [], "ephemeralContainers": [{ "name": "x" }] })
        );
    }
}
