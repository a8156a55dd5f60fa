//! Whose an object is, and how a child says so. Labels select and wake, they prove nothing.

use serde_json::{Value, json};

use crate::{
    object::Object,
    operator::{Labels, OperatorName},
};

/// Whether the parent is the controller of the child.
pub fn is_ours(parent: &Object, child: &Object) -> bool {
    child.controller() == Some(parent.uid())
}

/// Adds the labels and the owner reference to the body of a child whose metadata is an object.
/// Other owners stay; our labels win over the handler's.
pub(super) fn claim(body: &mut Value, parent: &Object, operator: &OperatorName, labels: &Labels) {
    let metadata = &mut body["metadata"];
    metadata["labels"][&labels.parent_uid] = json!(parent.uid().as_str());
    metadata["labels"][&labels.managed_by] = json!(operator.as_str());
    let mut owners = metadata["ownerReferences"].as_array().cloned().unwrap_or_default();
    owners.retain(|owner| owner["uid"] != parent.uid().as_str());
    owners.push(json!({
        "apiVersion": parent.ty().api_version(),
        "kind": parent.ty().kind(),
        "name": parent.name(),
        "uid": parent.uid().as_str(),
        "controller": true,
        "blockOwnerDeletion": true,
    }));
    metadata["ownerReferences"] = Value::from(owners);
}

/// Whether a child that differs only here lost what ties it to us, and nothing of what the handler
/// asked for: it is mended in place, whatever the update strategy.
pub(super) fn is_claim(path: &str, labels: &Labels) -> bool {
    let label = |name: &str| format!(".metadata.labels[{}]", Value::from(name));
    path.starts_with(".metadata.ownerReferences")
        || path == label(&labels.parent_uid)
        || path == label(&labels.managed_by)
}
