//! Objects inside of objects (`x-kubernetes-embedded-resource`): their kind and metadata.

use serde_json::{Map, Value};

use super::walk::walk;
use crate::schema::{FieldError, FieldPath, Schema, metadata, name_rule};

/// The errors of the resources embedded anywhere in a value at `path`.
pub(in crate::schema) fn errors(
    schema: &Schema,
    value: &Value,
    path: &FieldPath,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    walk(schema, value, path, &mut |schema, value, path| match value {
        Value::Object(fields) if schema.embedded_resource => {
            errors.extend(resource_errors(fields, path));
        }
        _ => {}
    });
    errors
}

fn resource_errors(fields: &Map<String, Value>, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    errors.extend(type_meta_error(fields, path, "apiVersion", api_version_error));
    errors.extend(type_meta_error(fields, path, "kind", kind_error));
    if let Some(metadata) = fields.get("metadata") {
        errors.extend(metadata::validate_embedded(metadata, &path.child("metadata")));
    }
    errors
}

fn type_meta_error(
    fields: &Map<String, Value>,
    path: &FieldPath,
    name: &str,
    judge: fn(&str) -> Option<String>,
) -> Option<FieldError> {
    let path = path.child(name);
    let Some(value) = fields.get(name) else { return Some(FieldError::required(&path, "")) };
    let detail = match value.as_str() {
        None => Some("must be a string".to_owned()),
        Some("") => Some("must not be empty".to_owned()),
        Some(text) => judge(text),
    };
    detail.map(|detail| FieldError::invalid(&path, value, detail))
}

fn api_version_error(version: &str) -> Option<String> {
    let error = || format!("unexpected GroupVersion string: {version}");
    (version.matches('/').count() > 1).then(error)
}

fn kind_error(kind: &str) -> Option<String> {
    let errors = name_rule::dns_1035_label(&kind.to_lowercase(), false);
    let error = || {
        let errors = errors.join(",");
        format!("may have mixed case, but should otherwise match: {errors}")
    };
    (!errors.is_empty()).then(error)
}
