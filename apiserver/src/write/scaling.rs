//! Whether the fields that the scale of a custom resource is made of have values that it can have.

use serde_json::Value;

use crate::{
    resource::{Resource, ScalePaths},
    schema::{FieldError, FieldPath},
};

/// What is wrong with the wanted and the observed replicas.
pub(super) fn errors(resource: &Resource, object: &Value) -> Vec<FieldError> {
    let Some(paths) = resource.scale.as_ref().filter(|_| resource.is_custom()) else {
        return Vec::new();
    };
    let wanted = replicas_error(&paths.spec_replicas, object);
    wanted.into_iter().chain(status_errors(resource, object)).collect()
}

/// What is wrong with the observed replicas and with their selector.
pub(super) fn status_errors(resource: &Resource, object: &Value) -> Vec<FieldError> {
    let Some(paths) = resource.scale.as_ref().filter(|_| resource.is_custom()) else {
        return Vec::new();
    };
    let selector = paths.label_selector.as_deref().and_then(|path| selector_error(path, object));
    replicas_error(&paths.status_replicas, object).into_iter().chain(selector).collect()
}

fn replicas_error(path: &str, object: &Value) -> Option<FieldError> {
    let found = ScalePaths::value(object, path)?;
    let detail = match found.as_i64() {
        None => return Some(wrong_type(path, found, &Value::from(0), "int64")),
        Some(0..=0x7fff_ffff) => return None,
        Some(..0) => "should be a non-negative integer".to_owned(),
        Some(_) => format!("should be less than or equal to {}", i32::MAX),
    };
    Some(FieldError::invalid(&FieldPath::new(path), found, detail))
}

fn selector_error(path: &str, object: &Value) -> Option<FieldError> {
    let found = ScalePaths::value(object, path).filter(|found| !found.is_string())?;
    Some(wrong_type(path, found, &Value::from(""), "string"))
}

/// A value of another type counts as the empty one.
fn wrong_type(path: &str, found: &Value, empty: &Value, expected: &str) -> FieldError {
    let go_type = match found {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    };
    let shown = match found {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let detail =
        format!("{path} accessor error: {shown} is of the type {go_type}, expected {expected}");
    FieldError::invalid(&FieldPath::new(path), empty, detail)
}
