//! `x-kubernetes-list-type`, its keys, and `x-kubernetes-map-type`.

use serde_json::Value;

use super::{
    inner::{items, type_name},
    strictness::Strictness,
};
use crate::schema::{
    FieldError, FieldPath,
    crd::{flag, list, text},
    go_schema,
};

const LIST_TYPE: &str = "x-kubernetes-list-type";
const MAP_TYPE: &str = "x-kubernetes-map-type";
const KEYS: &str = "x-kubernetes-list-map-keys";

/// The errors of the merge keywords of a list or map.
pub(super) fn errors(schema: &Value, path: &FieldPath, strictness: &Strictness) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Some(map_type) = text(schema, MAP_TYPE) {
        errors.extend(type_error(schema, "object", MAP_TYPE, path));
        errors.extend(name_error(map_type, MAP_TYPE, &["atomic", "granular"], path));
    }
    let list_type = text(schema, LIST_TYPE);
    if let Some(list_type) = list_type {
        let wrong_type = type_error(schema, "array", LIST_TYPE, path);
        if wrong_type.is_none() && list_type == "set" && strictness.atomic_sets {
            errors.extend(set_item_error(schema, path));
        }
        errors.extend(wrong_type);
        errors.extend(name_error(list_type, LIST_TYPE, &["atomic", "set", "map"], path));
    }
    errors.extend(keys_without_map(schema, path));
    if list_type == Some("map") {
        errors.extend(map_errors(schema, path));
    }
    if strictness.given_keys {
        errors.extend(given_errors(schema, path));
    }
    errors
}

fn type_error(schema: &Value, wanted: &str, keyword: &str, path: &FieldPath) -> Option<FieldError> {
    let path = path.child("type");
    let detail = format!("must be {wanted} if {keyword} is specified");
    match type_name(schema) {
        ty if ty == wanted => None,
        "" => Some(FieldError::required(&path, detail)),
        ty => Some(FieldError::invalid(&path, &ty.into(), detail)),
    }
}

fn name_error(name: &str, keyword: &str, known: &[&str], path: &FieldPath) -> Option<FieldError> {
    let error = || FieldError::not_supported(&path.child(keyword), &name.into(), known.to_vec());
    (!known.contains(&name)).then(error)
}

/// Whether a set has elements that are not atomic.
pub(super) fn set_item_error(schema: &Value, path: &FieldPath) -> Option<FieldError> {
    let item = items(schema)?;
    let (keyword, atomic) = match type_name(item) {
        "array" => (LIST_TYPE, text(item, LIST_TYPE).is_none_or(|ty| ty == "atomic")),
        "object" => (MAP_TYPE, text(item, MAP_TYPE) == Some("atomic")),
        _ => return None,
    };
    let shown = item.get(LIST_TYPE).cloned().unwrap_or_default();
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let path = path.child("items").child(keyword);
    (!atomic).then(|| FieldError::invalid(&path, &shown, detail))
}

fn keys_without_map(schema: &Value, path: &FieldPath) -> Option<FieldError> {
    let path = path.child(LIST_TYPE);
    let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    match text(schema, LIST_TYPE) {
        _ if list(schema, KEYS).is_empty() => None,
        None => Some(FieldError::required(&path, detail)),
        Some("map") => None,
        Some(other) => Some(FieldError::invalid(&path, &other.into(), detail)),
    }
}

fn map_errors(schema: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if list(schema, KEYS).is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        errors.push(FieldError::required(&path.child(KEYS), detail));
    }
    match items(schema) {
        None if schema["items"].is_null() => {
            let detail = "must have a schema if x-kubernetes-list-type is map";
            errors.push(FieldError::required(&path.child("items"), detail));
        }
        None => {
            let detail = "must only have a single schema if x-kubernetes-list-type is map";
            let error = FieldError::invalid(&path.child("items"), &Value::Null, detail);
            errors.push(FieldError {
                value: Some(go_schema::print_items(&schema["items"])),
                ..error
            });
        }
        Some(item) if type_name(item) == "object" => {
            errors.extend(key_errors(schema, item, path));
        }
        Some(item) => {
            let detail = "must be object if parent array's x-kubernetes-list-type is map";
            let path = path.child("items").child("type");
            errors.push(FieldError::invalid(&path, &type_name(item).into(), detail));
        }
    }
    errors
}

fn key_errors(schema: &Value, item: &Value, path: &FieldPath) -> Vec<FieldError> {
    let keys = list(schema, KEYS);
    let keys_path = path.child(KEYS);
    let invalid = |detail: &str| FieldError::invalid(&keys_path, &schema[KEYS], detail);
    let mut errors = Vec::new();
    for (index, key) in keys.iter().enumerate() {
        let name = key.as_str().unwrap_or_default();
        match field(item, name) {
            None => errors.push(invalid("entries must all be names of item properties")),
            Some(field) if matches!(type_name(field), "array" | "object") => {
                let detail =
                    "must be a scalar type if parent array's x-kubernetes-list-type is map";
                let path = path.child("items").child("properties").key(name).child("type");
                errors.push(FieldError::invalid(&path, &type_name(item).into(), detail));
            }
            Some(_) => {}
        }
        if keys[..index].contains(key) {
            errors.push(invalid("must not contain duplicate entries"));
        }
    }
    errors
}

fn field<'a>(item: &'a Value, name: &str) -> Option<&'a Value> {
    item.get("properties").and_then(|properties| properties.get(name))
}

/// The errors of elements and keys that may be `null` or absent.
pub(super) fn given_errors(schema: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let list_type = text(schema, LIST_TYPE).filter(|ty| matches!(*ty, "set" | "map"));
    let (Some(list_type), Some(item)) = (list_type, items(schema)) else { return errors };
    let path = path.child("items");
    if flag(item, "nullable") {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        errors.push(FieldError::forbidden(&path.child("nullable"), detail));
    }
    let keys = if list_type == "map" { list(schema, KEYS) } else { &[] };
    for name in keys.iter().filter_map(Value::as_str) {
        let Some(field) = field(item, name) else { continue };
        let path = path.child("properties").key(name);
        let required = list(item, "required").iter().any(|required| required == name);
        if !required && field["default"].is_null() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a \
                          default or be a required property";
            errors.push(FieldError::required(&path.child("default"), detail));
        }
        if flag(field, "nullable") {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(FieldError::forbidden(&path.child("nullable"), detail));
        }
    }
    errors
}
