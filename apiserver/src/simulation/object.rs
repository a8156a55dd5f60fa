//! Reads fields of objects, and names the owner of new ones.

use jiff::Timestamp;
use serde_json::{Value, json};

/// A text, or nothing.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A number, or 0.
pub(super) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

/// The elements of a list, or none.
pub(super) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A time, if it is one.
pub(super) fn time(value: &Value) -> Option<Timestamp> {
    text(value).parse().ok()
}

/// The name of an object.
pub(super) fn name(object: &Value) -> &str {
    text(&object["metadata"]["name"])
}

/// The uid of an object.
pub(super) fn uid(object: &Value) -> &str {
    text(&object["metadata"]["uid"])
}

/// An annotation of an object.
pub(super) fn annotation<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object["metadata"]["annotations"][name].as_str()
}

/// Whether an object is being deleted.
pub(super) fn is_deleting(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

/// The reference of the controller of an object, if it has one.
pub(super) fn controller(object: &Value) -> Option<&Value> {
    items(&object["metadata"]["ownerReferences"]).find(|owner| owner["controller"] == true)
}

/// Whether an object is controlled by another one.
pub(super) fn is_controlled_by(object: &Value, owner: &Value) -> bool {
    controller(object).is_some_and(|reference| reference["uid"] == owner["metadata"]["uid"])
}

/// The reference to an object as a controller.
pub(super) fn owner_reference(owner: &Value) -> Value {
    json!({
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// The number of replicas in a specification; 1 by default.
pub(super) fn replicas(object: &Value) -> i64 {
    object["spec"]["replicas"].as_i64().unwrap_or(1)
}

/// The generation of an object.
pub(super) fn generation(object: &Value) -> i64 {
    number(&object["metadata"]["generation"])
}

/// For sorting: the older first, by name among those of the same second.
pub(super) fn age(object: &Value) -> (&str, &str) {
    (text(&object["metadata"]["creationTimestamp"]), name(object))
}
