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

/// Whether a schema, or one anywhere inside of it, is like this.
pub(crate) fn has(schema: &Value, is_like_this: &dyn Fn(&Value) -> bool) -> bool {
    const ONE: [&str; 3] = ["not", "additionalProperties", "additionalItems"];
    const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
    const MAPS: [&str; 4] = ["properties", "patternProperties", "definitions", "dependencies"];
    let is = |inner: &Value| inner.is_object() && has(inner, is_like_this);
    let any = |inner: &Value| inner.as_array().into_iter().flatten().any(is);
    let any_value = |inner: &Value| inner.as_object().is_some_and(|map| map.values().any(is));
    let with = |names: &[&str], check: &dyn Fn(&Value) -> bool| {
        names.iter().any(|name| schema.get(name).is_some_and(check))
    };
    is_like_this(schema)
        || with(&["items"], &|items| is(items) || any(items))
        || with(&LISTS, &any)
        || with(&["not"], &is)
        || with(&MAPS[..1], &any_value)
        || with(&ONE[1..], &is)
        || with(&MAPS[1..], &any_value)
}
