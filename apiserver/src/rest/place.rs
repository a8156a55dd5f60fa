//! Whether an object is the one that the path names, and what the path says of it.

use serde_json::Value;

use crate::{resource::Resource, status::StatusError};

/// Whether name and namespace of an object, where given, are those of the path.
pub(super) fn check(
    namespace: Option<&str>,
    name: Option<&str>,
    object: &Value,
) -> Result<(), StatusError> {
    let given = |field: &str| object["metadata"][field].as_str().filter(|text| !text.is_empty());
    // An object without a namespace loses one that it brings along.
    let is_elsewhere = |given| namespace.is_some_and(|expected| expected != given);
    if given("namespace").is_some_and(is_elsewhere) {
        return Err(StatusError::bad_request(
            "the namespace of the provided object does not match \
             the namespace sent on the request",
        ));
    }
    match (name, given("name")) {
        (Some(name), None) => Err(StatusError::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: \
             name must be provided"
        ))),
        (Some(name), Some(given)) if name != given => Err(StatusError::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({name})"
        ))),
        _ => Ok(()),
    }
}

/// Fills in type, name and namespace from the path.
pub(super) fn fill(
    resource: &Resource,
    namespace: Option<&str>,
    name: Option<&str>,
    object: &mut Value,
) {
    // The type of a custom object is refused later if it is another one.
    if !resource.is_custom() {
        object["apiVersion"] = Value::from(resource.api_version());
        object["kind"] = Value::from(resource.kind.as_str());
    }
    if object["metadata"].is_null() {
        object["metadata"] = serde_json::json!({});
    }
    match (namespace, object["metadata"].as_object_mut()) {
        (Some(namespace), _) => object["metadata"]["namespace"] = Value::from(namespace),
        (None, Some(metadata)) => _ = metadata.remove("namespace"),
        (None, None) => {}
    }
    if let Some(name) = name {
        object["metadata"]["name"] = Value::from(name);
    }
}

/// Fills in the namespace from the path where the object has none.
pub(super) fn fill_namespace(namespace: Option<&str>, object: &mut Value) {
    if object["metadata"].is_null() {
        object["metadata"] = serde_json::json!({});
    }
    let metadata = object["metadata"].as_object_mut();
    if let (Some(namespace), Some(metadata)) = (namespace, metadata) {
        metadata.insert("namespace".to_owned(), Value::from(namespace));
    }
}
