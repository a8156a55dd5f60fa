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
    let mut filling = Filling { room: ROOM, nulls: Nulls::Dropped };
    filling.fill(schema, value);
    filling.room > 0
}

/// The same for the result of an apply, where a `null` without a default stays, to be refused later.
pub fn default_applied(schema: &Schema, value: &mut Value) -> bool {
    let mut filling = Filling { room: ROOM, nulls: Nulls::Kept };
    filling.fill(schema, value);
    filling.room > 0
}

/// What becomes of a `null` that means absent and has no default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nulls {
    Dropped,
    Kept,
}

/// Defaulting in progress.
struct Filling {
    room: usize,
    nulls: Nulls,
}

impl Filling {
    fn fill(&mut self, schema: &Schema, value: &mut Value) {
        match value {
            Value::Object(fields) => self.fill_fields(schema, fields),
            Value::Array(items) => self.fill_items(schema, items),
            _ => {}
        }
    }

    fn fill_fields(&mut self, schema: &Schema, fields: &mut Map<String, Value>) {
        let keeps = self.nulls == Nulls::Kept;
        fields.retain(|name, value| {
            let field = field(schema, name);
            let is_gone = |field: &Schema| means_absent(field, value) && field.default.is_none();
            keeps || !field.is_some_and(is_gone)
        });
        for (name, field) in &schema.properties {
            let absent = fields.get(name).is_none_or(|value| means_absent(field, value));
            if let Some(default) = field.default.as_ref().filter(|_| absent)
                && self.takes(default)
            {
                fields.insert(name.clone(), default.clone());
            }
        }
        for (name, value) in fields.iter_mut() {
            if let Some(field) = field(schema, name) {
                self.fill_value(field, value);
            }
        }
    }

    fn fill_items(&mut self, schema: &Schema, items: &mut [Value]) {
        if let Some(item) = &schema.items {
            for value in items {
                self.fill_value(item, value);
            }
        }
    }

    /// An element of a list cannot go: a `null` without a default is left to validation.
    fn fill_value(&mut self, schema: &Schema, value: &mut Value) {
        if let Some(default) = schema.default.as_ref().filter(|_| means_absent(schema, value))
            && self.takes(default)
        {
            *value = default.clone();
        }
        self.fill(schema, value);
    }

    /// Whether there is room for another default.
    fn takes(&mut self, default: &Value) -> bool {
        self.room = self.room.saturating_sub(cost(default));
        self.room > 0
    }
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
