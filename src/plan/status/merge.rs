//! The JSON merge patch (RFC 7396) between two trees.

use serde_json::{Map, Value};

use crate::reply::ValueSchema;

/// The patch that turns `present` into `desired`; `None` when they are equal. A field that the
/// server would default again is not removed: it would be written for ever.
pub(super) fn difference(
    present: &Map<String, Value>,
    desired: &Map<String, Value>,
    schema: Option<&ValueSchema>,
) -> Option<Value> {
    let mut patch = Map::new();
    for (name, value) in desired {
        let inner = field(schema, name);
        if let Some(change) = change(present.get(name), value, inner) {
            patch.insert(name.clone(), change);
        }
    }
    for (name, value) in present.iter().filter(|(name, _)| !desired.contains_key(*name)) {
        if !is_default(value, name, schema) && !value.is_null() {
            patch.insert(name.clone(), Value::Null);
        }
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

fn change(present: Option<&Value>, desired: &Value, schema: Option<&ValueSchema>) -> Option<Value> {
    match (present, desired) {
        (Some(Value::Object(present)), Value::Object(desired)) => {
            difference(present, desired, schema)
        }
        (Some(present), desired) if same(present, desired, schema) => None,
        (Some(_) | None, desired) => Some(desired.clone()),
    }
}

/// Equal, where `1` is `1.0`, and apart from fields that the server would default again.
pub(super) fn same(present: &Value, desired: &Value, schema: Option<&ValueSchema>) -> bool {
    match (present, desired) {
        (Value::Number(x), Value::Number(y)) => {
            x == y || ((x.is_f64() || y.is_f64()) && x.as_f64() == y.as_f64())
        }
        (Value::Array(x), Value::Array(y)) => {
            let items = schema.and_then(ValueSchema::items);
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y, items))
        }
        (Value::Object(present), Value::Object(desired)) => {
            desired.keys().all(|name| present.contains_key(name))
                && present.iter().all(|(name, value)| match desired.get(name) {
                    Some(desired) => same(value, desired, field(schema, name)),
                    None => is_default(value, name, schema),
                })
        }
        _ => present == desired,
    }
}

fn is_default(value: &Value, name: &str, schema: Option<&ValueSchema>) -> bool {
    let inner = field(schema, name);
    let default = inner.and_then(ValueSchema::default);
    default.is_some_and(|default| same(value, default, inner))
}

fn field<'a>(schema: Option<&'a ValueSchema>, name: &str) -> Option<&'a ValueSchema> {
    schema?.field(name)
}
