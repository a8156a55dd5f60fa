//! Reads a [`Schema`] from the `openAPIV3Schema` of a custom resource definition.
//!
//! Lenient: keywords of the wrong form are ignored, and references are not resolved. `structural` checks whether an API
//! server accepts the schema.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value};

use super::{ListType, MapType, Schema, SchemaType};

/// The keywords that are kept as they are, because only validation reads them.
pub(super) const RULES: [&str; 18] = [
    "allOf",
    "anyOf",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "uniqueItems",
];

impl Schema {
    /// The schema that this schema object of `OpenAPI` declares.
    pub fn from_open_api(schema: &Value) -> Self {
        Self {
            ty: text(schema, "type").and_then(SchemaType::from_open_api),
            properties: properties(schema),
            additional_properties: additional_properties(schema),
            items: sub_schema(schema, "items"),
            required: texts(schema, "required"),
            enumeration: list(schema, "enum").to_vec(),
            default: schema.get("default").filter(|default| !default.is_null()).cloned(),
            nullable: flag(schema, "nullable"),
            list_type: list_type(schema),
            map_type: map_type(schema),
            preserve_unknown_fields: flag(schema, "x-kubernetes-preserve-unknown-fields"),
            int_or_string: flag(schema, "x-kubernetes-int-or-string"),
            embedded_resource: flag(schema, "x-kubernetes-embedded-resource"),
            rules: rules(schema),
            validations: list(schema, "x-kubernetes-validations").to_vec(),
        }
    }
}

impl SchemaType {
    /// The type of this name, if there is one.
    pub fn from_open_api(name: &str) -> Option<Self> {
        Some(match name {
            "object" => Self::Object,
            "array" => Self::Array,
            "string" => Self::String,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            _ => return None,
        })
    }

    /// The name of the type in `OpenAPI`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }
}

fn properties(schema: &Value) -> BTreeMap<String, Arc<Schema>> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let parsed = properties.into_iter().flatten();
    parsed.map(|(name, value)| (name.clone(), Arc::new(Schema::from_open_api(value)))).collect()
}

fn additional_properties(schema: &Value) -> Option<Arc<Schema>> {
    match schema.get("additionalProperties")? {
        Value::Bool(true) => Some(Arc::default()),
        Value::Object(_) => sub_schema(schema, "additionalProperties"),
        _ => None,
    }
}

fn sub_schema(schema: &Value, name: &str) -> Option<Arc<Schema>> {
    let schema = schema.get(name).filter(|value| value.is_object())?;
    Some(Arc::new(Schema::from_open_api(schema)))
}

fn list_type(schema: &Value) -> ListType {
    match text(schema, "x-kubernetes-list-type") {
        Some("set") => ListType::Set,
        Some("map") => ListType::Map(texts(schema, "x-kubernetes-list-map-keys")),
        _ => ListType::Atomic,
    }
}

fn map_type(schema: &Value) -> MapType {
    match text(schema, "x-kubernetes-map-type") {
        Some("atomic") => MapType::Atomic,
        _ => MapType::Granular,
    }
}

fn rules(schema: &Value) -> Option<Value> {
    let rules: Map<_, _> = RULES
        .iter()
        .filter_map(|&name| Some((name.to_owned(), schema.get(name)?.clone())))
        .collect();
    (!rules.is_empty()).then_some(Value::Object(rules))
}

/// The text of this keyword.
pub(super) fn text<'a>(schema: &'a Value, name: &str) -> Option<&'a str> {
    schema.get(name).and_then(Value::as_str)
}

/// Whether this keyword is `true`.
pub(super) fn flag(schema: &Value, name: &str) -> bool {
    schema.get(name).and_then(Value::as_bool).unwrap_or_default()
}

/// The values of this keyword.
pub(super) fn list<'a>(schema: &'a Value, name: &str) -> &'a [Value] {
    schema.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn texts(schema: &Value, name: &str) -> Vec<String> {
    list(schema, name).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_keyword_is_parsed() {
        let schema = Schema::from_open_api(&json!({
            "type": "object", "required": ["spec"],
            "properties": {
                "ports": {
                    "type": "array", "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["port", "protocol"],
                    "items": {"type": "object", "x-kubernetes-map-type": "atomic"}
                },
                "mode": {"type": "string", "enum": ["a", "b"], "default": "a", "nullable": true},
                "count": {"type": "integer", "minimum": 1, "format": "int32"},
                "any": {"x-kubernetes-int-or-string": true},
                "raw": {
                    "type": "object", "x-kubernetes-embedded-resource": true,
                    "x-kubernetes-preserve-unknown-fields": true
                },
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "free": {"type": "object", "additionalProperties": true}
            }
        }));
        let field = |name: &str| schema.properties[name].as_ref();
        assert_eq!(schema.ty, Some(SchemaType::Object));
        assert_eq!(schema.required, ["spec"]);
        let keys = vec!["port".to_owned(), "protocol".to_owned()];
        assert_eq!(field("ports").list_type, ListType::Map(keys));
        let item = field("ports").items.as_deref().unwrap();
        assert_eq!(item.map_type, MapType::Atomic);
        assert_eq!(field("mode").enumeration, [json!("a"), json!("b")]);
        assert_eq!(field("mode").default, Some(json!("a")));
        assert!(field("mode").nullable);
        assert_eq!(field("count").rules, Some(json!({"minimum": 1, "format": "int32"})));
        assert!(field("any").int_or_string);
        assert!(field("raw").embedded_resource && field("raw").preserve_unknown_fields);
        let values = field("labels").additional_properties.as_deref().unwrap();
        assert_eq!(values.ty, Some(SchemaType::String));
        assert_eq!(field("free").additional_properties.as_deref(), Some(&Schema::default()));
    }

    #[test]
    fn values_of_the_wrong_form_are_ignored() {
        for schema in [
            json!(null),
            json!([]),
            json!("object"),
            json!({"type": ["object"], "properties": [], "items": [], "required": "x"}),
            json!({"type": "null", "enum": {}, "nullable": "true", "default": null}),
            json!({"additionalProperties": false, "x-kubernetes-list-type": 1}),
        ] {
            assert_eq!(Schema::from_open_api(&schema), Schema::default(), "{schema}");
        }
    }
}
