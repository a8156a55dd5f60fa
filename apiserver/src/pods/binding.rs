//! Binding a Pod to a node. Whether the node exists does not matter, as in the real server.

use serde_json::{Map, Value, json};

use super::set_condition;
use crate::{
    cluster::Cluster,
    group_resource::GroupResource,
    log::ObjectKey,
    resource::Resource,
    schema::{FieldError, FieldPath},
    status::{Result, StatusError},
    write,
};

/// What a binding asks for.
#[derive(Debug)]
pub(crate) struct Binding<'a>(pub &'a Value);

/// Assigns a Pod to the node of a binding.
pub(crate) fn bind(
    cluster: &Cluster,
    pods: &Resource,
    key: &ObjectKey,
    binding: &Binding<'_>,
    dry_run: bool,
) -> Result<()> {
    binding.check()?;
    let now = cluster.clock.now_text();
    let assign = |pod: &mut Value| {
        binding.check_preconditions(pods, key, pod)?;
        check_unassigned(pod).map_err(|why| {
            StatusError::conflict(&GroupResource::new("", "pods/binding"), &key.name, &why)
        })?;
        binding.assign(pod, &now);
        Ok(())
    };
    write::change_directly(cluster, pods, key, dry_run, &assign).map(|_| ())
}

impl Binding<'_> {
    /// The real server answers a wrong binding with the bare list of what is wrong.
    fn check(&self) -> Result<()> {
        let (kind, name) = (self.target("kind"), self.target("name"));
        let mut errors = Vec::new();
        if !matches!(kind, "" | "Node") {
            let path = FieldPath::new("target").child("kind");
            errors.push(FieldError::not_supported(&path, &json!(kind), ["Node", "<empty>"]));
        }
        if name.is_empty() {
            errors.push(FieldError::required(&FieldPath::new("target").child("name"), ""));
        }
        match errors.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice() {
            [] => Ok(()),
            [one] => Err(StatusError::internal(one)),
            many => Err(StatusError::internal(format!("[{}]", many.join(", ")))),
        }
    }

    fn check_preconditions(&self, pods: &Resource, key: &ObjectKey, pod: &Value) -> Result<()> {
        for (field, label) in [("uid", "UID"), ("resourceVersion", "ResourceVersion")] {
            let given = self.0["metadata"][field].as_str().unwrap_or_default();
            let found = pod["metadata"][field].as_str().unwrap_or_default();
            if given.is_empty() || given == found {
                continue;
            }
            let why = format!(
                "StorageError: invalid object, Code: 4, Key: /registry/pods/{}/{}, \
                 ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: {label} in \
                 precondition: {given}, {label} in object meta: {found}",
                key.namespace, key.name
            );
            return Err(StatusError::conflict(&pods.id, &key.name, &why));
        }
        Ok(())
    }

    fn assign(&self, pod: &mut Value, now: &str) {
        pod["spec"]["nodeName"] = json!(self.target("name"));
        if let Some(status) = pod.get_mut("status").and_then(Value::as_object_mut) {
            status.remove("nominatedNodeName");
        }
        for field in ["annotations", "labels"] {
            self.copy(field, pod);
        }
        set_condition(pod, "PodScheduled", None, now);
    }

    /// Copies labels or annotations to the Pod.
    fn copy(&self, field: &str, pod: &mut Value) {
        let Some(given) = self.0["metadata"][field].as_object().filter(|map| !map.is_empty())
        else {
            return;
        };
        let slot = &mut pod["metadata"][field];
        if !slot.is_object() {
            *slot = Value::Object(Map::new());
        }
        for (key, value) in given {
            slot[key.as_str()] = value.clone();
        }
    }

    fn target(&self, field: &str) -> &str {
        self.0["target"][field].as_str().unwrap_or_default()
    }
}

/// Why a Pod cannot be assigned.
fn check_unassigned(pod: &Value) -> std::result::Result<(), String> {
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
    if !pod["metadata"]["deletionTimestamp"].is_null() {
        return Err(format!("pod {name} is being deleted, cannot be assigned to a host"));
    }
    if !node.is_empty() {
        return Err(format!("pod {name} is already assigned to node {node:?}"));
    }
    if pod["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty()) {
        return Err(format!("pod {name} has non-empty .spec.schedulingGates"));
    }
    Ok(())
}
