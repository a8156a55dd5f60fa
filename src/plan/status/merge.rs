//! The JSON merge patch (RFC 7396) between two trees.

use serde_json::{Map, Value};

use super::schema;

/// The patch that turns `present` into `desired`; `None` when they are equal. A field that the
/// server would default again at once is not removed: that would be written for ever.
pub(super) fn difference(
    present: &Map<String, Value>,
    desired: &Map<String, Value>,
    schema: Option<&Value>,
) -> Option<Value> {
    let mut patch = Map::new();
    for (name, value) in desired {
        let inner = schema::property(schema, name);
        if let Some(change) = change(present.get(name), value, inner) {
            patch.insert(name.clone(), change);
        }
    }
    for (name, value) in present.iter().filter(|(name, _)| !desired.contains_key(*name)) {
        let is_default = schema::default(schema, name).is_some_and(|default| default == value);
        if !is_default && !value.is_null() {
            patch.insert(name.clone(), Value::Null);
        }
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

fn change(present: Option<&Value>, desired: &Value, schema: Option<&Value>) -> Option<Value> {
    match (present, desired) {
        (Some(Value::Object(present)), Value::Object(desired)) => {
            difference(present, desired, schema)
        }
        (Some(present), desired) if same(present, desired) => None,
        (Some(_) | None, desired) => Some(desired.clone()),
    }
}

/// Equal, where `1` is `1.0`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => {
            x == y || ((x.is_f64() || y.is_f64()) && x.as_f64() == y.as_f64())
        }
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y))
        }
        (Value::Object(x), Value::Object(y)) => {
            let has =
                |(name, value): (&String, &Value)| y.get(name).is_some_and(|y| same(value, y));
            x.len() == y.len() && x.iter().all(has)
        }
        _ => a == b,
    }
}
