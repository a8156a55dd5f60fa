//! Schemas of custom types for version 2: without what it cannot say or what its clients would refuse.

use serde_json::{Value, json};

/// Drops choices, and what stands beside `nullable` and unknown fields.
pub(super) fn downgrade(schema: &mut Value) {
    if is(schema, "x-kubernetes-preserve-unknown-fields") {
        // Clients would take any fields beside these for wrong.
        let kinds = schema["x-kubernetes-group-version-kind"].clone();
        *schema = json!({ "type": "object", "x-kubernetes-group-version-kind": kinds });
        return;
    }
    node(schema);
}

fn node(schema: &mut Value) {
    let nullable = nullable_fields(schema);
    let is_open = is(schema, "x-kubernetes-preserve-unknown-fields");
    let is_nullable = is(schema, "nullable");
    let is_open_object = is_open && is(schema, "x-kubernetes-embedded-resource");
    let Some(fields) = schema.as_object_mut() else { return };
    // A reference to metadata stays.
    if fields.get("allOf").is_some_and(|all| all[0]["$ref"].is_null()) {
        fields.remove("allOf");
    }
    for keyword in ["oneOf", "anyOf", "not", "nullable"] {
        fields.remove(keyword);
    }
    if is_nullable || is_open {
        fields.remove("items");
        fields.remove("properties");
    }
    let ty = fields.get("type").and_then(Value::as_str).unwrap_or_default();
    let is_untyped = is_nullable
        || (is_open && ty == "object")
        || (ty == "array" && !fields.contains_key("items"));
    if is_untyped {
        fields.remove("type");
    }
    if let Some(required) = fields.get_mut("required").and_then(Value::as_array_mut) {
        // The fields of an object within, which are not added where others are unknown.
        let is_added = |field: &Value| is_open_object && (field == "kind" || field == "apiVersion");
        required.retain(|field| !nullable.iter().any(|it| field == it) && !is_added(field));
        if required.is_empty() {
            fields.remove("required");
        }
    }
    for inner in ["items", "additionalProperties"] {
        fields.get_mut(inner).into_iter().for_each(node);
    }
    let properties = fields.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flatten().for_each(|(_, schema)| node(schema));
}

fn nullable_fields(schema: &Value) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.filter(|(_, schema)| is(schema, "nullable")).map(|(name, _)| name.clone()).collect()
}

fn is(schema: &Value, keyword: &str) -> bool {
    schema.get(keyword).and_then(Value::as_bool).unwrap_or_default()
}
