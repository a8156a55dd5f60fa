//! Elements that must be unique: lists with `x-kubernetes-list-type` `set` or `map`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::walk::walk;
use crate::schema::{FieldError, FieldPath, ListType, Schema, go_value};

/// The errors of the lists anywhere in a value.
pub(super) fn errors(schema: &Schema, value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    walk(schema, value, &FieldPath::root(), &mut |schema, value, path| {
        if let Value::Array(items) = value {
            errors.extend(list_errors(&schema.list_type, items, path));
        }
    });
    errors
}

fn list_errors(list_type: &ListType, items: &[Value], path: &FieldPath) -> Vec<FieldError> {
    match list_type {
        ListType::Atomic => Vec::new(),
        ListType::Set => duplicates(items.iter().cloned(), path),
        ListType::Map(keys) => map_errors(keys, items, path),
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

/// Each repeated value is named at its second position.
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
