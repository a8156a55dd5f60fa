//! The form of a structural schema: every field has a type, and metadata is not restricted.

use serde_json::{Value, json};

use super::{
    inner::{additional_properties, items, properties, type_name},
    nested,
};
use crate::schema::{FieldError, FieldPath, crd::flag};

/// The position of a schema in the schema of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// The errors of the form of a schema and of those below it.
pub(super) fn errors(schema: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    visit(schema, Level::Root, path, &mut errors);
    errors
}

fn visit(schema: &Value, level: Level, path: &FieldPath, errors: &mut Vec<FieldError>) {
    if type_name(schema) == "array" && items(schema).is_none() {
        errors.push(FieldError::required(&path.child("items"), "must be specified"));
    }
    if let Some(item) = items(schema) {
        visit(item, Level::Item, &path.child("items"), errors);
    }
    for (_, path, field) in properties(schema, path) {
        visit(field, Level::Field, &path, errors);
    }
    if let Some(values) = additional_properties(schema) {
        visit(values, Level::Field, &path.child("additionalProperties"), errors);
    }
    errors.extend(extension_errors(schema, path));
    errors.extend(nested::errors(schema, path));
    errors.extend(type_errors(schema, level, path));
    errors.extend(map_errors(schema, level, path));
    errors.extend(meta_errors(schema, level, path));
}

fn extension_errors(schema: &Value, path: &FieldPath) -> Vec<FieldError> {
    if !flag(schema, "x-kubernetes-int-or-string") {
        return Vec::new();
    }
    let both = ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"];
    let both = both.into_iter().filter(|name| flag(schema, name));
    let detail = "must be false if x-kubernetes-int-or-string is true";
    both.map(|name| FieldError::invalid(&path.child(name), &json!(true), detail)).collect()
}

fn type_errors(schema: &Value, level: Level, path: &FieldPath) -> Vec<FieldError> {
    let path = path.child("type");
    let ty = type_name(schema);
    let mut errors = Vec::new();
    let untyped = flag(schema, "x-kubernetes-int-or-string")
        || flag(schema, "x-kubernetes-preserve-unknown-fields");
    let embedded = "must be object if x-kubernetes-embedded-resource is true";
    match (ty, level) {
        ("object", _) => {}
        ("", _) if flag(schema, "x-kubernetes-embedded-resource") => {
            errors.push(FieldError::required(&path, embedded));
        }
        (ty, _) if flag(schema, "x-kubernetes-embedded-resource") => {
            errors.push(FieldError::invalid(&path, &ty.into(), embedded));
        }
        ("", _) if !untyped => {
            let of_what = match level {
                Level::Root => "at the root",
                Level::Item => "for specified array items",
                Level::Field => "for specified object fields",
            };
            errors.push(FieldError::required(&path, format!("must not be empty {of_what}")));
        }
        _ => {}
    }
    if level == Level::Root && !matches!(ty, "" | "object") {
        errors.push(FieldError::invalid(&path, &ty.into(), "must be object at the root"));
    }
    errors
}

fn map_errors(schema: &Value, level: Level, path: &FieldPath) -> Vec<FieldError> {
    let map = path.child("additionalProperties");
    let mut errors = Vec::new();
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    if schema.get("additionalProperties").is_some() {
        if level == Level::Root {
            errors.push(FieldError::forbidden(&map, "must not be used at the root"));
        }
        if embedded {
            let detail = "must not be used if x-kubernetes-embedded-resource is set";
            errors.push(FieldError::forbidden(&map, detail));
        }
    }
    let preserve = flag(schema, "x-kubernetes-preserve-unknown-fields");
    if embedded && !preserve && properties(schema, path).is_empty() {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                      x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(&path.child("properties"), detail));
    }
    errors
}

/// At the root and for embedded objects, kind and version are strings and metadata is an object; at the
/// root the schema may only restrict names in metadata.
fn meta_errors(schema: &Value, level: Level, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let resource = level == Level::Root || flag(schema, "x-kubernetes-embedded-resource");
    for (name, path, field) in properties(schema, path) {
        let (wanted, detail) = match name {
            "kind" | "apiVersion" => ("string", "must be string"),
            "metadata" => ("object", "must be object"),
            _ => continue,
        };
        let ty = type_name(field);
        if resource && ty != wanted {
            errors.push(FieldError::invalid(&path.child("type"), &ty.into(), detail));
        }
        if name == "metadata" && level == Level::Root && !is_bare_metadata(field) {
            let detail = "must not specify anything other than name and generateName, but \
                          metadata is implicitly specified";
            errors.push(FieldError::forbidden(&path, detail));
        }
    }
    errors
}

fn is_bare_metadata(schema: &Value) -> bool {
    let fields = properties(schema, &FieldPath::root());
    let named = |name: &str| matches!(name, "name" | "generateName");
    let keyword = |name: &String| matches!(name.as_str(), "type" | "default" | "properties");
    let keywords = schema.as_object().into_iter().flatten().map(|(name, _)| name);
    fields.iter().all(|(name, ..)| named(name)) && keywords.into_iter().all(keyword)
}
