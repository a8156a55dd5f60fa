//! Elements that must be unique: lists with `x-kubernetes-list-type` `set` or `map`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::schema::{FieldError, FieldPath, ListType, Schema, go_value};

/// What is wrong with the lists anywhere in a value.
pub(super) fn errors(schema: &Schema, value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    visit(schema, value, &FieldPath::root(), &mut errors);
    errors
}

fn visit(schema: &Schema, value: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    match value {
        Value::Array(items) => visit_list(schema, items, path, errors),
        Value::Object(fields) => visit_fields(schema, fields, path, errors),
        _ => {}
    }
}

fn visit_fields(
    schema: &Schema,
    fields: &Map<String, Value>,
    path: &FieldPath,
    errors: &mut Vec<FieldError>,
) {
    for (name, value) in fields {
        if let Some(field) = schema.properties.get(name) {
            visit(field, value, &path.child(name), errors);
        } else if let Some(values) = &schema.additional_properties {
            visit(values, value, &path.key(name), errors);
        }
    }
}

fn visit_list(schema: &Schema, items: &[Value], path: &FieldPath, errors: &mut Vec<FieldError>) {
    match &schema.list_type {
        ListType::Atomic => {}
        ListType::Set => errors.extend(duplicates(items.iter().cloned(), path)),
        ListType::Map(keys) => errors.extend(map_errors(keys, items, path)),
    }
    if let Some(item) = &schema.items {
        for (index, value) in items.iter().enumerate() {
            visit(item, value, &path.index(index), errors);
        }
    }
}

fn map_errors(keys: &[String], items: &[Value], path: &FieldPath) -> Vec<FieldError> {
    let odd = items.iter().position(|item| !item.is_object() && !item.is_null());
    if let Some(index) = odd {
        let detail = "must be an object for an array of list-type map";
        return vec![FieldError::invalid(&path.index(index), &items[index], detail)];
    }
    duplicates(items.iter().map(|item| key_of(keys, item)), path)
}

fn key_of(keys: &[String], item: &Value) -> Value {
    let part = |key: &String| Some((key.clone(), item.get(key)?.clone()));
    Value::Object(keys.iter().filter_map(part).collect())
}

/// Each value that occurs more than once is named at its second place.
fn duplicates(values: impl Iterator<Item = Value>, path: &FieldPath) -> Vec<FieldError> {
    let mut seen = BTreeMap::new();
    let mut errors = Vec::new();
    for (index, value) in values.enumerate() {
        let times = seen.entry(go_value::print(&value)).or_insert(0_u32);
        *times += 1;
        if *times == 2 {
            errors.push(FieldError::duplicate(&path.index(index), &value));
        }
    }
    errors
}
