//! Schemas as kube-apiserver prints them inside of messages: as the Go structs that it has.

use serde_json::Value;

use super::go_value;

/// What stands where a field is not given, and how a field is printed that is.
#[derive(Clone, Copy)]
enum Form {
    /// `""`
    Text,
    /// `false`
    Flag,
    /// `null`, and any JSON.
    Any,
    Schema,
    Schemas,
    SchemasByName,
    Items,
    OrBool,
    Dependencies,
    Documentation,
    Rules,
}

use Form::{
    Any, Dependencies, Documentation, Flag, Items, OrBool, Rules, Schema, Schemas, SchemasByName,
    Text,
};

const FIELDS: [(&str, &str, Form); 43] = [
    ("ID", "id", Text),
    ("Schema", "$schema", Text),
    ("Ref", "$ref", Any),
    ("Description", "description", Text),
    ("Type", "type", Text),
    ("Nullable", "nullable", Flag),
    ("Format", "format", Text),
    ("Title", "title", Text),
    ("Default", "default", Any),
    ("Maximum", "maximum", Any),
    ("ExclusiveMaximum", "exclusiveMaximum", Flag),
    ("Minimum", "minimum", Any),
    ("ExclusiveMinimum", "exclusiveMinimum", Flag),
    ("MaxLength", "maxLength", Any),
    ("MinLength", "minLength", Any),
    ("Pattern", "pattern", Text),
    ("MaxItems", "maxItems", Any),
    ("MinItems", "minItems", Any),
    ("UniqueItems", "uniqueItems", Flag),
    ("MultipleOf", "multipleOf", Any),
    ("Enum", "enum", Any),
    ("MaxProperties", "maxProperties", Any),
    ("MinProperties", "minProperties", Any),
    ("Required", "required", Any),
    ("Items", "items", Items),
    ("AllOf", "allOf", Schemas),
    ("OneOf", "oneOf", Schemas),
    ("AnyOf", "anyOf", Schemas),
    ("Not", "not", Schema),
    ("Properties", "properties", SchemasByName),
    ("AdditionalProperties", "additionalProperties", OrBool),
    ("PatternProperties", "patternProperties", SchemasByName),
    ("Dependencies", "dependencies", Dependencies),
    ("AdditionalItems", "additionalItems", OrBool),
    ("Definitions", "definitions", SchemasByName),
    ("ExternalDocs", "externalDocs", Documentation),
    ("Example", "example", Any),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", Any),
    ("XEmbeddedResource", "x-kubernetes-embedded-resource", Flag),
    ("XIntOrString", "x-kubernetes-int-or-string", Flag),
    ("XListMapKeys", "x-kubernetes-list-map-keys", Any),
    ("XListType", "x-kubernetes-list-type", Any),
    ("XMapType", "x-kubernetes-map-type", Any),
];

const RULE_FIELDS: [(&str, &str, Form); 6] = [
    ("Rule", "rule", Text),
    ("Message", "message", Text),
    ("MessageExpression", "messageExpression", Text),
    ("Reason", "reason", Any),
    ("FieldPath", "fieldPath", Text),
    ("OptionalOldSelf", "optionalOldSelf", Any),
];

/// A schema.
pub(crate) fn print(schema: &Value) -> String {
    let mut fields: Vec<_> = FIELDS.iter().map(|field| print_field(schema, field)).collect();
    fields.push(print_field(schema, &("XValidations", "x-kubernetes-validations", Rules)));
    object(&fields)
}

/// The name of the first field, in the order of the Go struct, that is given and is none of `known`.
pub(crate) fn first_other(schema: &Value, known: &[&str]) -> Option<&'static str> {
    let names = FIELDS.iter().map(|(name, key, _)| (*name, *key));
    let mut names = names.chain([("XValidations", "x-kubernetes-validations")]);
    names
        .find(|(name, key)| schema.get(key).is_some() && !known.contains(name))
        .map(|(name, _)| name)
}

/// A rule in CEL.
pub(crate) fn print_rule(rule: &Value) -> String {
    let fields: Vec<_> = RULE_FIELDS.iter().map(|field| print_field(rule, field)).collect();
    object(&fields)
}

/// The schema or schemas of the elements of a list.
pub(crate) fn print_items(items: &Value) -> String {
    let (one, many) = match items {
        Value::Array(_) => ("null".to_owned(), list(items, print)),
        _ => (one(items), "null".to_owned()),
    };
    object(&[("Schema", one), ("JSONSchemas", many)])
}

fn print_field(
    value: &Value,
    (name, key, form): &(&'static str, &str, Form),
) -> (&'static str, String) {
    let value = value.get(key).unwrap_or(&Value::Null);
    let text = match (form, value) {
        (Text, Value::Null) => "\"\"".to_owned(),
        (Flag, Value::Null) => "false".to_owned(),
        (_, Value::Null) => "null".to_owned(),
        (Text | Flag | Any, value) => go_value::json(value),
        (Schema, value) => one(value),
        (Schemas, value) => list(value, print),
        (SchemasByName, value) => by_name(value, print),
        (Items, value) => print_items(value),
        (OrBool, value) => {
            let allows = (*value != Value::Bool(false)).to_string();
            object(&[("Allows", allows), ("Schema", one(value))])
        }
        (Dependencies, value) => by_name(value, |value| {
            let names = if value.is_array() { go_value::json(value) } else { "null".to_owned() };
            object(&[("Schema", one(value)), ("Property", names)])
        }),
        (Documentation, value) => object(&[
            print_field(value, &("Description", "description", Text)),
            print_field(value, &("URL", "url", Text)),
        ]),
        (Rules, value) => list(value, print_rule),
    };
    (*name, text)
}

fn one(value: &Value) -> String {
    if value.is_object() { print(value) } else { "null".to_owned() }
}

fn list(values: &Value, print: fn(&Value) -> String) -> String {
    let items: Vec<_> = values.as_array().into_iter().flatten().map(print).collect();
    format!("[{}]", items.join(","))
}

fn by_name(values: &Value, print: fn(&Value) -> String) -> String {
    let mut entries: Vec<_> = values.as_object().into_iter().flatten().collect();
    entries.sort_by_key(|(name, _)| *name);
    let entries = entries
        .into_iter()
        .map(|(name, value)| format!("{}:{}", go_value::json(&name.as_str().into()), print(value)));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
}

/// A Go struct as JSON.
pub(crate) fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<_> = fields.iter().map(|(name, text)| format!("\"{name}\":{text}")).collect();
    format!("{{{}}}", fields.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_has_all_fields_of_its_struct() {
        let schema = json!({"type": "object", "maximum": 2.0, "properties": {"a": {"items": {}}}});
        let text = print(&schema);
        assert!(
            text.starts_with(
                r#"{"ID":"","Schema":"","Ref":null,"Description":"","Type":"object","#
            )
        );
        assert!(text.contains(r#""Maximum":2,"ExclusiveMaximum":false,"#), "{text}");
        assert!(text.contains(r#""Items":{"Schema":{"ID":"""#), "{text}");
        assert!(text.ends_with(r#""XMapType":null,"XValidations":null}"#), "{text}");
    }

    #[test]
    fn fields_that_are_not_known_are_found_in_their_order() {
        let schema = json!({"type": "object", "allOf": [], "nullable": true});
        assert_eq!(first_other(&schema, &["Type"]), Some("Nullable"));
        assert_eq!(first_other(&schema, &["Type", "Nullable", "AllOf"]), None);
    }
}
