//! JSON values in the notation of Go, which the real server's messages show to users.

use serde_json::{Number, Value};

/// The name of the Go type that holds the value.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// The value without quotes and types.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", join(items.iter().map(plain), " ")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{name}:{}", plain(value)));
            format!("map[{}]", join(fields, " "))
        }
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => plain_number(number),
    }
}

/// The value with quotes and types, and with the type that the real server keeps it in.
pub(super) fn debug(value: &Value) -> String {
    format!("&value.valueUnstructured{{Value:{}}}", literal(value))
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Array(items) => {
            format!("{}{{{}}}", type_name(value), join(items.iter().map(literal), ", "))
        }
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), literal(value)));
            format!("{}{{{}}}", type_name(value), join(fields, ", "))
        }
        Value::Number(number) => plain_number(number),
        scalar => scalar.to_string(),
    }
}

fn plain_number(number: &Number) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(float) => float.to_string(),
        None => number.to_string(),
    }
}

fn join(parts: impl Iterator<Item = String>, separator: &str) -> String {
    parts.collect::<Vec<_>>().join(separator)
}
