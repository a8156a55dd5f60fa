//! Values of an object as values of expressions, by their schema.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

use super::{
    list::List,
    map::Map,
    val::{Outcome, Text, Val, error},
};
use crate::{
    apply,
    cel::scalar::time,
    schema::{Schema, SchemaType},
};

/// The value that this is by its schema.
pub(in crate::cel) fn of_data<'a>(value: &'a Value, schema: &'a Schema) -> Outcome<'a> {
    if value.is_null() {
        return if schema.nullable {
            Ok(Val::Null)
        } else {
            error("invalid data, got null for schema with nullable=false")
        };
    }
    if schema.int_or_string {
        return int_or_string(value);
    }
    match schema.ty {
        Some(SchemaType::Object) => match value {
            Value::Object(fields) => Ok(Val::Map(Map::Data(fields, schema))),
            _ => error("invalid data, expected a map for the provided schema with type=object"),
        },
        Some(SchemaType::Array) => list(value, schema),
        Some(SchemaType::String) => string(value, schema),
        Some(SchemaType::Number) => match value.as_f64() {
            Some(number) => Ok(Val::Double(number)),
            None => error(format!("invalid data, expected float, got {}", apply::type_name(value))),
        },
        Some(SchemaType::Integer) => match value.as_i64() {
            Some(number) => Ok(Val::Int(number)),
            None => error(format!("invalid data, expected int, got {}", apply::type_name(value))),
        },
        Some(SchemaType::Boolean) => match value {
            Value::Bool(value) => Ok(Val::Bool(*value)),
            _ => error(format!("invalid data, expected bool, got {}", apply::type_name(value))),
        },
        None if schema.preserve_unknown_fields => Ok(Val::Opaque(value)),
        None => error(
            "invalid type, expected object, array, number, integer, boolean or string, or no type with \
             x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got ",
        ),
    }
}

fn int_or_string(value: &Value) -> Outcome<'_> {
    match value {
        Value::String(text) => Ok(Val::String(Text::Borrowed(text))),
        Value::Number(number) if number.is_i64() => Ok(Val::Int(number.as_i64().unwrap_or(0))),
        _ => error("invalid data, expected XIntOrString value to be either a string or integer"),
    }
}

fn list<'a>(value: &'a Value, schema: &'a Schema) -> Outcome<'a> {
    let Value::Array(items) = value else {
        return error("invalid data, expected an array for the provided schema with type=array");
    };
    match schema.items.as_deref() {
        Some(element) => Ok(Val::List(List::data(items, schema, element))),
        None => error("invalid array type, expected Items with a non-empty Schema"),
    }
}

fn string<'a>(value: &'a Value, schema: &Schema) -> Outcome<'a> {
    let Value::String(text) = value else {
        return error(format!("invalid data, expected string, got {}", apply::type_name(value)));
    };
    let format = schema.rules.as_ref().and_then(|rules| rules.get("format"));
    match format.and_then(Value::as_str) {
        Some("duration") => match time::parse_lenient_duration(text) {
            Some(duration) => Ok(Val::Duration(duration)),
            None => error(format!("Invalid duration {text}: unable to parse {text} as duration")),
        },
        Some("date") => match time::parse_date(text) {
            Some(time) => Ok(Val::Timestamp(time)),
            None => error(format!("Invalid date formatted string {text}")),
        },
        Some("date-time") => match time::parse_date_time(text) {
            Some(time) => Ok(Val::Timestamp(time)),
            None => error(format!("Invalid date-time formatted string {text}")),
        },
        Some("byte") => match STANDARD.decode(text) {
            Ok(bytes) => Ok(Val::Bytes(Arc::from(bytes))),
            Err(_) => error(format!("Invalid byte formatted string {text}")),
        },
        _ => Ok(Val::String(Text::Borrowed(text))),
    }
}
