//! Defaults must be values that the schema accepts and keeps.

use serde_json::Value;

use super::inner::{items, properties};
use crate::schema::{
    FieldError, FieldPath, Schema, Validator,
    prune::{is_meta_field, prune_value},
    validate::embedded,
};

/// The errors of the defaults in a schema.
pub(super) fn errors(schema: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    visit(schema, path, true, &mut errors);
    errors
}

/// Defaults of metadata are forbidden elsewhere; those in free maps are not checked.
fn visit(schema: &Value, path: &FieldPath, resource: bool, errors: &mut Vec<FieldError>) {
    if schema.get("default").is_some_and(|default| !default.is_null()) {
        errors.extend(default_errors(schema, &path.child("default")));
    }
    if let Some(item) = items(schema) {
        visit(item, &path.child("items"), false, errors);
    }
    let resource = resource || schema["x-kubernetes-embedded-resource"] == true;
    for (name, path, field) in properties(schema, path) {
        if !(resource && is_meta_field(name)) {
            visit(field, &path, false, errors);
        }
    }
}

fn default_errors(schema: &Value, path: &FieldPath) -> Vec<FieldError> {
    let default = &schema["default"];
    let schema = Schema::from_open_api(schema);
    let mut errors = Vec::new();
    if !prune_value(&schema, &mut default.clone()).is_empty() {
        errors.push(FieldError::invalid(path, default, "must not have unknown fields"));
    }
    let embedded = embedded::errors(&schema, default, path);
    if !embedded.is_empty() {
        errors.extend(embedded);
        return errors;
    }
    match Validator::new(schema) {
        Ok(validator) => errors.extend(validator.validate_at(path, default, None)),
        Err(error) => errors.push(FieldError::invalid(path, default, error.to_string())),
    }
    errors
}
