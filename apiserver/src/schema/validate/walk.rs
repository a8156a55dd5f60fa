//! The walk through a value along its schema.

use serde_json::Value;

use crate::schema::{FieldPath, Schema};

/// Visits a value at `path`, then the declared values inside of it.
pub(super) fn walk(
    schema: &Schema,
    value: &Value,
    path: &FieldPath,
    look: &mut impl FnMut(&Schema, &Value, &FieldPath),
) {
    look(schema, value, path);
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if let Some(field) = schema.properties.get(name) {
                    walk(field, value, &path.child(name), look);
                } else if let Some(values) = &schema.additional_properties {
                    walk(values, value, &path.key(name), look);
                }
            }
        }
        Value::Array(items) => {
            let Some(item) = &schema.items else { return };
            for (index, value) in items.iter().enumerate() {
                walk(item, value, &path.index(index), look);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
