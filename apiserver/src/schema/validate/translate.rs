//! A structural schema as the JSON Schema (draft 7) that means the same.
//!
//! `nullable` and int-or-string become types; boolean exclusive bounds become numbers; formats
//! that kube-apiserver does not know are dropped, as it does.

use jsonschema::{Draft, ValidationOptions};
use serde_json::{Map, Value, json};

use super::{factor, format, number, pattern};
use crate::schema::Schema;

/// How schemas made here are compiled: patterns and formats of kube-apiserver.
pub(super) fn options() -> ValidationOptions<'static> {
    let options = jsonschema::options()
        .with_draft(Draft::Draft7)
        .should_validate_formats(true)
        .with_keyword(factor::KEYWORD, factor::compile)
        .with_keyword(number::KEYWORD, number::compile)
        .with_keyword(pattern::KEYWORD, pattern::compile);
    format::register(options)
}

/// The JSON Schema of a structural schema.
pub(super) fn json_schema(schema: &Schema) -> Value {
    let mut out = match &schema.rules {
        Some(Value::Object(rules)) => rules_of(rules),
        _ => Map::new(),
    };
    format::keep_known(&mut out, schema.ty);
    add_type(&mut out, schema);
    add_children(&mut out, schema);
    if !schema.required.is_empty() {
        out.insert("required".to_owned(), json!(schema.required));
    }
    add_enum(&mut out, &schema.enumeration);
    Value::Object(out)
}

fn add_type(out: &mut Map<String, Value>, schema: &Schema) {
    let mut names = match schema.ty {
        _ if schema.int_or_string => vec!["integer", "string"],
        Some(ty) => vec![ty.as_str()],
        None => return,
    };
    if names.contains(&"integer") || names == ["number"] {
        let format = out.get("format").cloned().unwrap_or_default();
        let format = if schema.int_or_string { Value::Null } else { format };
        out.insert(number::KEYWORD.to_owned(), json!({"type": names[0], "format": format}));
    }
    if schema.nullable {
        names.push("null");
    }
    out.insert("type".to_owned(), json!(names));
}

fn add_children(out: &mut Map<String, Value>, schema: &Schema) {
    if !schema.properties.is_empty() {
        let properties: Map<_, _> = schema
            .properties
            .iter()
            .map(|(name, field)| (name.clone(), json_schema(field)))
            .collect();
        out.insert("properties".to_owned(), Value::Object(properties));
    }
    if let Some(values) = &schema.additional_properties {
        out.insert("additionalProperties".to_owned(), json_schema(values));
    }
    if let Some(items) = &schema.items {
        out.insert("items".to_owned(), json_schema(items));
    }
}

/// `null` is never one of the values of an enum, even where the enum names it.
fn add_enum(out: &mut Map<String, Value>, values: &[Value]) {
    let values: Vec<_> = values.iter().filter(|value| !value.is_null()).cloned().collect();
    if !values.is_empty() {
        out.insert("enum".to_owned(), Value::Array(values));
    }
}

fn rules_of(rules: &Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    for (name, rule) in rules {
        match (name.as_str(), rule) {
            ("allOf" | "anyOf" | "oneOf", Value::Array(branches)) if branches.is_empty() => {}
            ("allOf" | "anyOf" | "oneOf", Value::Array(branches)) => {
                let branches = branches.iter().map(nested).collect();
                out.insert(name.clone(), Value::Array(branches));
            }
            ("not", branch) => {
                out.insert(name.clone(), nested(branch));
            }
            ("minimum" | "maximum", limit) if limit.is_number() => add_bound(&mut out, name, rules),
            ("pattern", pattern) if pattern.is_string() => {
                out.insert(pattern::KEYWORD.to_owned(), pattern.clone());
            }
            ("exclusiveMinimum" | "exclusiveMaximum", _) => {}
            ("multipleOf", factor) => {
                out.insert(factor::KEYWORD.to_owned(), factor.clone());
            }
            _ => {
                out.insert(name.clone(), rule.clone());
            }
        }
    }
    out
}

/// A schema below `allOf` and the like: only rules, and types that narrow an int-or-string.
fn nested(branch: &Value) -> Value {
    json_schema(&Schema { default: None, ..Schema::from_open_api(branch) })
}

/// A bound that is declared exclusive, in the manner of draft 4, gets the name of its own.
fn add_bound(out: &mut Map<String, Value>, name: &str, rules: &Map<String, Value>) {
    let exclusive = match name {
        "minimum" => "exclusiveMinimum",
        _ => "exclusiveMaximum",
    };
    let is_exclusive = rules.get(exclusive) == Some(&Value::Bool(true));
    let limit = rules.get(name).cloned().unwrap_or_default();
    out.insert(if is_exclusive { exclusive } else { name }.to_owned(), limit);
}

/// The type that a translated schema was made from, as kube-apiserver names it.
pub(super) fn type_names(json_schema: &Value) -> String {
    let names = json_schema.get("type").and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names.filter(|name| *name != "null").collect::<Vec<_>>().join(",")
}
