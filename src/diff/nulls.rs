//! A null in a handler's response means an absent field.

use serde_json::Value;

/// Removes null fields, however deep. In an apply they would be values, in a merge patch removals.
pub(crate) fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            // Most have none, and looking is faster than filtering.
            if fields.values().any(Value::is_null) {
                fields.retain(|_, value| !value.is_null());
            }
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
