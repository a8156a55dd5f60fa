//! Whether the schema of a CRD is structural, as the API server asks. It refuses others, and names a path in the CRD
//! only.
//!
//! Source: "Specifying a structural schema" of the page on custom resource definitions in the documentation of
//! Kubernetes. What Rust types lead to is checked; the API server checks the rest.

use serde_json::Value;

/// The first thing in a schema that is not structural: where, and why.
pub(super) fn fault(schema: &Value) -> Option<String> {
    if schema["type"] != "object" {
        return Some("the type itself is no object".to_owned());
    }
    value(schema, "")
}

const ANY: &str = "x-kubernetes-preserve-unknown-fields";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";

fn value(schema: &Value, path: &str) -> Option<String> {
    let has = |name: &str| schema.get(name).is_some();
    let at = if path.is_empty() { "the type itself" } else { path };
    if has("$ref") {
        return Some(format!("{at} refers to another schema, perhaps to itself: a CRD cannot"));
    }
    if !has("type") && schema[ANY] != true && schema[INT_OR_STRING] != true {
        return Some(format!(
            "{at} has no type, as that of an untagged enum or of any JSON value: give it one type, or \
             `#[schemars(extend(\"{ANY}\" = true))]`"
        ));
    }
    let has_properties = schema["properties"].as_object().is_some_and(|it| !it.is_empty());
    if has_properties && has("additionalProperties") {
        return Some(format!(
            "{at} has fields and others beside them, as those of a flattened map or of \
             `deny_unknown_fields`: a CRD has one of both"
        ));
    }
    if schema["uniqueItems"] == true {
        return Some(format!("{at} is a set, which a CRD cannot have: use a list"));
    }
    alternatives(schema, path).or_else(|| inside(schema, path))
}

fn inside(schema: &Value, path: &str) -> Option<String> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let mut of_properties =
        properties.filter_map(|(name, inner)| value(inner, &format!("{path}.{name}")));
    let each = |name: &str| {
        let inner = schema.get(name).filter(|inner| inner.is_object());
        inner.and_then(|inner| value(inner, &format!("{path}[*]")))
    };
    of_properties.next().or_else(|| each("items")).or_else(|| each("additionalProperties"))
}

/// What only the value itself may have, not one of its alternatives.
const OUTSIDE: [&str; 6] =
    ["type", "description", "title", "default", "nullable", "additionalProperties"];

fn alternatives(schema: &Value, path: &str) -> Option<String> {
    if schema[INT_OR_STRING] == true {
        return None;
    }
    let lists = ["allOf", "anyOf", "oneOf"].iter().filter_map(|name| schema[*name].as_array());
    let mut all = lists.flatten().chain(schema.get("not"));
    all.find_map(|one| alternative(one, schema, path))
}

fn alternative(one: &Value, outer: &Value, path: &str) -> Option<String> {
    let at = if path.is_empty() { "the type itself" } else { path };
    if let Some(name) = OUTSIDE.iter().find(|name| one.get(**name).is_some()) {
        return Some(format!(
            "{at} has alternatives with a `{name}` of their own: use one type for all of them"
        ));
    }
    let properties = one["properties"].as_object().into_iter().flatten();
    let mut faults = properties.filter_map(|(name, inner)| {
        let path = format!("{path}.{name}");
        match outer["properties"].get(name) {
            Some(outer) => alternative(inner, outer, &path),
            None => Some(format!("{path} is in an alternative only")),
        }
    });
    let first = faults.next();
    let nested = || alternatives_of(one, outer, path);
    first.or_else(nested)
}

/// The alternatives of an alternative are about the same value.
fn alternatives_of(one: &Value, outer: &Value, path: &str) -> Option<String> {
    let lists = ["allOf", "anyOf", "oneOf"].iter().filter_map(|name| one[*name].as_array());
    let mut all = lists.flatten().chain(one.get("not"));
    all.find_map(|inner| alternative(inner, outer, path))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of_spec(spec: &Value) -> Option<String> {
        fault(&json!({"type": "object", "properties": {"spec": spec}}))
    }

    #[test]
    fn the_first_fault_is_named_with_its_place() {
        let string = json!({"type": "string"});
        let object = |fields: Value| json!({"type": "object", "properties": fields});
        for (spec, expected) in [
            (object(json!({"a": string})), None),
            (json!({"type": "object", "additionalProperties": string}), None),
            (object(json!({"a": {ANY: true}})), None),
            (
                object(
                    json!({"a": {INT_OR_STRING: true, "anyOf": [{"type": "integer"}, {"type": "string"}]}}),
                ),
                None,
            ),
            (
                json!({"type": "object", "properties": {"a": string, "b": string},
                    "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
                None,
            ),
            (object(json!({"a": {}})), Some(".spec.a has no type")),
            (
                object(json!({"a": {"anyOf": [string, {"type": "integer"}]}})),
                Some(".spec.a has no type"),
            ),
            (object(json!({"a": {"type": "array", "items": {}}})), Some(".spec.a[*] has no type")),
            (
                object(json!({"a": {"type": "string", "anyOf": [string]}})),
                Some(".spec.a has alternatives with a `type`"),
            ),
            (
                json!({"type": "object", "oneOf": [{"properties": {"a": {}}}]}),
                Some(".spec.a is in an alternative only"),
            ),
            (
                json!({"type": "object", "properties": {"a": string}, "additionalProperties": false}),
                Some(".spec has fields and others"),
            ),
            (
                object(json!({"a": {"type": "array", "items": string, "uniqueItems": true}})),
                Some(".spec.a is a set"),
            ),
            (object(json!({"a": {"$ref": "#/a"}})), Some(".spec.a refers")),
        ] {
            let found = of_spec(&spec);
            let is_right = match (&found, expected) {
                (Some(found), Some(words)) => found.starts_with(words),
                (found, expected) => found.is_none() && expected.is_none(),
            };
            assert!(is_right, "{spec}: {found:?}");
        }
        assert!(fault(&json!({})).is_some());
    }
}
