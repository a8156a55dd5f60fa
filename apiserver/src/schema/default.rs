//! Gives absent fields the default that their schema declares.
//!
//! A `null` is a value if the schema is `nullable`. Otherwise it means absent: it is replaced by the
//! default or, without one, removed.

use serde_json::{Map, Value};

use super::Schema;

/// How many values all defaults of one object may have together: more do not fit into the store.
const ROOM: usize = 1 << 19;

/// Fills in the defaults of an object, as deep as there are values; returns whether there was room for all.
///
/// The default of an object is filled in first, then the defaults of its fields; a default below
/// a field that is absent and has none itself has no effect.
pub fn default(schema: &Schema, value: &mut Value) -> bool {
    let mut room = ROOM;
    fill(schema, value, &mut room);
    room > 0
}

fn fill(schema: &Schema, value: &mut Value, room: &mut usize) {
    match value {
        Value::Object(fields) => fill_fields(schema, fields, room),
        Value::Array(items) => fill_items(schema, items, room),
        _ => {}
    }
}

fn fill_fields(schema: &Schema, fields: &mut Map<String, Value>, room: &mut usize) {
    fields.retain(|name, value| {
        let field = field(schema, name);
        field.is_none_or(|field| !means_absent(field, value) || field.default.is_some())
    });
    for (name, field) in &schema.properties {
        let absent = fields.get(name).is_none_or(|value| means_absent(field, value));
        if let Some(default) = field.default.as_ref().filter(|_| absent)
            && takes(room, default)
        {
            fields.insert(name.clone(), default.clone());
        }
    }
    for (name, value) in fields.iter_mut() {
        if let Some(field) = field(schema, name) {
            fill_value(field, value, room);
        }
    }
}

fn fill_items(schema: &Schema, items: &mut [Value], room: &mut usize) {
    if let Some(item) = &schema.items {
        for value in items {
            fill_value(item, value, room);
        }
    }
}

/// An element of a list cannot go: a `null` without a default is left to validation.
fn fill_value(schema: &Schema, value: &mut Value, room: &mut usize) {
    if let Some(default) = schema.default.as_ref().filter(|_| means_absent(schema, value))
        && takes(room, default)
    {
        *value = default.clone();
    }
    fill(schema, value, room);
}

/// Whether there is room for another default.
fn takes(room: &mut usize, default: &Value) -> bool {
    *room = room.saturating_sub(cost(default));
    *room > 0
}

/// The number of values, where long texts count as several.
fn cost(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(cost).sum(),
        Value::Object(fields) => fields.values().map(cost).sum(),
        Value::String(text) => text.len() / 32,
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn field<'a>(schema: &'a Schema, name: &str) -> Option<&'a Schema> {
    schema.properties.get(name).or(schema.additional_properties.as_ref()).map(AsRef::as_ref)
}

fn means_absent(schema: &Schema, value: &Value) -> bool {
    value.is_null() && !schema.nullable
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn defaulted(schema: &Value, mut value: Value) -> Value {
        default(&Schema::from_open_api(schema), &mut value);
        value
    }

    #[test]
    fn absent_fields_of_existing_objects_get_their_default() {
        let schema = json!({"properties": {"spec": {"type": "object", "properties": {
            "replicas": {"type": "integer", "default": 1},
            "strategy": {"type": "object", "default": {}, "properties": {
                "type": {"type": "string", "default": "Rolling"}
            }},
            "unset": {"type": "object", "properties": {"x": {"default": 1}}}
        }}}});
        assert_eq!(
            defaulted(&schema, json!({"spec": {"replicas": 0}})),
            json!({"spec": {"replicas": 0, "strategy": {"type": "Rolling"}}})
        );
        assert_eq!(defaulted(&schema, json!({})), json!({}));
    }

    #[test]
    fn elements_of_lists_and_values_of_maps_get_the_defaults_of_their_fields() {
        let element = json!({"type": "object", "properties": {"p": {"default": "TCP"}}});
        let schema = json!({"properties": {
            "list": {"type": "array", "items": element},
            "map": {"type": "object", "additionalProperties": element}
        }});
        assert_eq!(
            defaulted(&schema, json!({"list": [{}, {"p": "UDP"}, 3], "map": {"k": {}}})),
            json!({"list": [{"p": "TCP"}, {"p": "UDP"}, 3], "map": {"k": {"p": "TCP"}}})
        );
    }

    #[test]
    fn null_is_a_value_only_where_the_schema_says_nullable() {
        let schema = json!({"properties": {
            "nullable": {"type": "string", "nullable": true, "default": "x"},
            "defaulted": {"type": "string", "default": "x"},
            "dropped": {"type": "string"},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "list": {"type": "array", "items": {"type": "string"}}
        }});
        let object = json!({
            "nullable": null, "defaulted": null, "dropped": null, "undeclared": null,
            "map": {"a": null, "b": "1"}, "list": [null]
        });
        assert_eq!(
            defaulted(&schema, object),
            json!({
                "nullable": null, "defaulted": "x", "undeclared": null,
                "map": {"b": "1"}, "list": [null]
            })
        );
    }

    #[test]
    fn a_nullable_default_of_an_absent_field_is_filled_in() {
        let schema = json!({"properties": {"a": {"nullable": true, "default": [1, {"b": 2}]}}});
        assert_eq!(defaulted(&schema, json!({})), json!({"a": [1, {"b": 2}]}));
    }

    #[test]
    fn values_of_the_wrong_type_are_left_to_validation() {
        let schema = json!({"properties": {"spec": {"properties": {"x": {"default": 1}}}}});
        for value in [json!(null), json!("x"), json!({"spec": "\0"}), json!({"spec": [{}]})] {
            assert_eq!(defaulted(&schema, value.clone()), value);
        }
    }
}
