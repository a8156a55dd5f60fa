//! What a null means in what a handler returned: nothing.

use serde_json::Value;

/// Removes null fields, however deep. In an apply they would be values, in a merge patch removals.
pub(crate) fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            // Most have none, and to look is faster than to sort out.
            if fields.values().any(Value::is_null) {
                fields.retain(|_, value| !value.is_null());
            }
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
