//! The few facts about a whole object that server-side apply needs.

use serde_json::{Value, json};

const MANAGED_FIELDS: &str = "managedFields";

pub(super) fn api_version(object: &Value) -> Option<&str> {
    object.get("apiVersion")?.as_str()
}

pub(super) fn managed_fields(object: &Value) -> Option<&Value> {
    object.get("metadata")?.get(MANAGED_FIELDS)
}

/// Replaces `metadata.managedFields`, or removes it.
pub(super) fn with_managed_fields(mut object: Value, managed_fields: Option<Value>) -> Value {
    match managed_fields {
        Some(entries) => object["metadata"][MANAGED_FIELDS] = entries,
        None => {
            if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.remove(MANAGED_FIELDS);
            }
        }
    }
    object
}

/// The object without `managedFields`: they never manage themselves.
pub(super) fn without_managed_fields(object: &Value) -> Value {
    with_managed_fields(object.clone(), None)
}

/// What an object is before it is created.
pub(super) fn empty_like(object: &Value) -> Value {
    json!({"apiVersion": object["apiVersion"], "kind": object["kind"]})
}

pub(super) fn has_uid(object: &Value) -> bool {
    let uid = object.get("metadata").and_then(|metadata| metadata.get("uid"));
    uid.and_then(Value::as_str).is_some_and(|uid| !uid.is_empty())
}

/// `namespace/name; group/version, Kind=Kind`, as messages name an object.
pub(crate) fn describe(object: &Value) -> String {
    let metadata = object.get("metadata");
    let text = |field| metadata.and_then(|m| m.get(field)).and_then(Value::as_str).unwrap_or("");
    format!("{}/{}; {}", text("namespace"), text("name"), describe_type(object))
}

/// `group/version, Kind=Kind`, with an empty group before the version of a core type.
pub(crate) fn describe_type(object: &Value) -> String {
    let text = |field| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let version = text("apiVersion");
    let core = if version.contains('/') { "" } else { "/" };
    format!("{core}{version}, Kind={}", text("kind"))
}
