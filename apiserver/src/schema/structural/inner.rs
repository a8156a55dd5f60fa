//! The schemas inside of a schema, each with its path.

use serde_json::Value;

use crate::schema::{FieldPath, crd};

/// The schemas below `allOf`, `anyOf`, `oneOf` and `not`.
pub(super) fn branches<'a>(schema: &'a Value, path: &FieldPath) -> Vec<(FieldPath, &'a Value)> {
    let mut found = Vec::new();
    for name in ["allOf", "anyOf", "oneOf"] {
        for (index, branch) in crd::list(schema, name).iter().enumerate() {
            found.push((path.child(name).index(index), branch));
        }
    }
    found.extend(schema.get("not").map(|branch| (path.child("not"), branch)));
    found
}

/// The declared fields.
pub(super) fn properties<'a>(
    schema: &'a Value,
    path: &FieldPath,
) -> Vec<(&'a str, FieldPath, &'a Value)> {
    let path = path.child("properties");
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.map(|(name, field)| (name.as_str(), path.key(name), field)).collect()
}

/// The schema of the elements, unless there is a list of them.
pub(super) fn items(schema: &Value) -> Option<&Value> {
    schema.get("items").filter(|items| items.is_object())
}

/// The schema of the values of a map.
pub(super) fn additional_properties(schema: &Value) -> Option<&Value> {
    schema.get("additionalProperties").filter(|values| values.is_object())
}

/// The declared type; empty when there is none.
pub(super) fn type_name(schema: &Value) -> &str {
    crd::text(schema, "type").unwrap_or_default()
}
