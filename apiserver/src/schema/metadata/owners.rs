//! Owner references: complete, and at most one of them the controller.

use serde_json::Value;

use crate::schema::{FieldError, FieldPath, go_value};

/// The errors of the owner references of an object.
pub(super) fn errors(references: &[Value], path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut controller: Option<String> = None;
    for (index, reference) in references.iter().enumerate() {
        errors.extend(reference_errors(reference, &path.index(index)));
        if reference["controller"] != true {
            continue;
        }
        let this = format!("{}/{}", text(reference, "kind"), text(reference, "name"));
        match &controller {
            None => controller = Some(this),
            Some(first) => errors.push(two_controllers(references, first, &this, path)),
        }
    }
    errors
}

fn reference_errors(reference: &Value, path: &FieldPath) -> Vec<FieldError> {
    let api_version = text(reference, "apiVersion");
    let version = api_version.split_once('/').map_or(api_version, |(_, version)| version);
    let mut errors = Vec::new();
    if !api_version.is_empty() && (version.is_empty() || version.contains('/')) {
        let detail = "must be <group>/<version> or <version>";
        errors.push(FieldError::invalid(&path.child("apiVersion"), &api_version.into(), detail));
    }
    for name in ["apiVersion", "kind", "name", "uid"] {
        if text(reference, name).is_empty() {
            errors.push(FieldError::required(&path.child(name), "must not be empty"));
        }
    }
    if (api_version, text(reference, "kind")) == ("v1", "Event") {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        errors.push(with_value(FieldError::invalid(path, reference, detail), print(reference)));
    }
    errors
}

fn two_controllers(all: &[Value], first: &str, second: &str, path: &FieldPath) -> FieldError {
    let detail = format!(
        "Only one reference can have Controller set to true. Found \"true\" in references for \
         {first} and {second}"
    );
    let all: Vec<_> = all.iter().map(print).collect();
    with_value(FieldError::invalid(path, &Value::Null, detail), format!("[{}]", all.join(",")))
}

fn with_value(error: FieldError, value: String) -> FieldError {
    FieldError { value: Some(value), ..error }
}

/// The reference as JSON, with its fields in the order of their declaration.
fn print(reference: &Value) -> String {
    let required = ["apiVersion", "kind", "name", "uid"].map(|name| {
        let value = Value::from(text(reference, name));
        format!("\"{name}\":{}", go_value::print(&value))
    });
    let optional = ["controller", "blockOwnerDeletion"].into_iter().filter_map(|name| {
        let value = reference.get(name)?.as_bool()?;
        Some(format!("\"{name}\":{value}"))
    });
    format!("{{{}}}", required.into_iter().chain(optional).collect::<Vec<_>>().join(","))
}

fn text<'a>(reference: &'a Value, name: &str) -> &'a str {
    reference.get(name).and_then(Value::as_str).unwrap_or_default()
}
