//! Validates definitions, with the messages of the real server where they are known.
//!
//! Features that this server lacks are refused here, so that they are not silently ignored.

use serde_json::{Value, json};

use super::{columns, conversion, scale};
use crate::{
    cel,
    schema::{self, FieldError, FieldPath, Schema, Validator, structural_errors},
};

/// The errors of a definition.
pub(crate) fn validate(definition: &Value) -> Vec<FieldError> {
    let spec = FieldPath::new("spec");
    let mut errors = name_errors(definition);
    errors.extend(spec_errors(&definition["spec"], &spec));
    errors.extend(scale::errors(&definition["spec"], &spec));
    errors.extend(columns::errors(&definition["spec"], &spec));
    let versions = spec.child("versions");
    errors.extend(storage_errors(&definition["spec"]["versions"], &versions));
    for (at, version) in list(&definition["spec"]["versions"]).enumerate() {
        errors.extend(version_errors(version, &versions.index(at)));
    }
    errors
}

/// The errors of a changed definition.
pub(crate) fn validate_update(definition: &Value, before: &Value) -> Vec<FieldError> {
    let mut errors = validate(definition);
    let spec = FieldPath::new("spec");
    for (path, pointer) in [
        (spec.child("group"), "/spec/group"),
        (spec.child("scope"), "/spec/scope"),
        (spec.child("names").child("plural"), "/spec/names/plural"),
        (spec.child("names").child("kind"), "/spec/names/kind"),
    ] {
        let value = |object: &Value| object.pointer(pointer).cloned().unwrap_or_default();
        if value(definition) != value(before) {
            errors.push(FieldError::invalid(&path, &value(definition), "field is immutable"));
        }
    }
    errors
}

fn name_errors(definition: &Value) -> Vec<FieldError> {
    let name = text(&definition["metadata"]["name"]);
    let spec = &definition["spec"];
    let expected = format!("{}.{}", text(&spec["names"]["plural"]), text(&spec["group"]));
    if name.is_empty() || name == expected {
        return Vec::new();
    }
    let path = FieldPath::new("metadata").child("name");
    let detail = "must be spec.names.plural+\".\"+spec.group";
    vec![FieldError::invalid(&path, &json!(name), detail)]
}

fn spec_errors(spec: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let names = path.child("names");
    for (path, value) in [
        (path.child("group"), &spec["group"]),
        (path.child("scope"), &spec["scope"]),
        (names.child("plural"), &spec["names"]["plural"]),
        (names.child("kind"), &spec["names"]["kind"]),
        (names.child("listKind"), &spec["names"]["listKind"]),
    ] {
        if text(value).is_empty() {
            errors.push(FieldError::required(&path, ""));
        }
    }
    if !matches!(text(&spec["scope"]), "" | "Cluster" | "Namespaced") {
        let scopes = ["Cluster", "Namespaced"];
        errors.push(FieldError::not_supported(&path.child("scope"), &spec["scope"], scopes));
    }
    errors.extend(conversion::errors(&spec["conversion"], &path.child("conversion")));
    if spec["preserveUnknownFields"] == true {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
                      spec.versions[*].schema instead";
        let path = path.child("preserveUnknownFields");
        errors.push(FieldError::invalid(&path, &json!(true), detail));
    }
    errors
}

fn storage_errors(versions: &Value, path: &FieldPath) -> Vec<FieldError> {
    let storage = list(versions).filter(|version| version["storage"] == true).count();
    let mut errors = Vec::new();
    if storage != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid(path, versions, detail));
    }
    let names: Vec<&str> = list(versions).map(|version| text(&version["name"])).collect();
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            errors.push(FieldError::duplicate(&path.index(at).child("name"), &json!(name)));
        }
    }
    errors
}

fn version_errors(version: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if text(&version["name"]).is_empty() {
        errors.push(FieldError::required(&path.child("name"), ""));
    }
    let schema_path = path.child("schema").child("openAPIV3Schema");
    let schema = &version["schema"]["openAPIV3Schema"];
    if !schema.is_object() {
        errors.push(FieldError::required(&schema_path, "schemas are required"));
        return errors;
    }
    errors.extend(structural_errors(schema, &schema_path));
    errors.extend(unsupported_rules(schema, &schema_path));
    if errors.is_empty() {
        errors.extend(cel::definition_errors(schema, &schema_path));
    }
    if !errors.is_empty() {
        return errors;
    }
    if let Err(error) = Validator::new(Schema::from_open_api(schema)) {
        errors.push(FieldError::invalid(&schema_path, &json!(""), error.to_string()));
    }
    errors
}

/// Refuses rules that would be ignored.
fn unsupported_rules(schema: &Value, path: &FieldPath) -> Vec<FieldError> {
    let rules = schema::unsupported(schema, path);
    rules.iter().map(|rule| unsupported(path, &format!("the rule {rule}"))).collect()
}

/// Refuses what the real server can do and this one cannot.
fn unsupported(path: &FieldPath, what: &str) -> FieldError {
    let detail = format!("the embedded API server does not support {what}");
    FieldError::forbidden(path, detail)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
