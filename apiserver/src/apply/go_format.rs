//! JSON values in the notations of Go, which the real server shows to users and stores.

use serde_json::{Number, Value};

/// The name of the Go type that holds the value.
pub(crate) fn type_name(value: &Value) -> &'static str {
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
        Value::Number(_) => whole_numbers(value).to_string(),
    }
}

/// The value with quotes and types, and with the type that the real server keeps it in.
pub(super) fn debug(value: &Value) -> String {
    format!("&value.valueUnstructured{{Value:{}}}", literal(value))
}

/// JSON as Go writes it: safe inside HTML, and whole numbers without a fraction.
pub(super) fn json(value: &Value) -> String {
    whole_numbers(value)
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// The value as paths in messages show it: strings in quotes.
pub(super) fn quoted(value: &Value) -> String {
    whole_numbers(value).to_string()
}

fn whole_numbers(value: &Value) -> Value {
    match value {
        Value::Number(number) => whole(number).map_or_else(|| value.clone(), Value::from),
        Value::Array(items) => items.iter().map(whole_numbers).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), whole_numbers(value))).collect()
        }
        other => other.clone(),
    }
}

/// The integer that a number with a fraction of zero is, if it is not too large.
fn whole(number: &Number) -> Option<i64> {
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0)?;
    format!("{float:.0}").parse().ok()
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
        scalar => whole_numbers(scalar).to_string(),
    }
}

fn join(parts: impl Iterator<Item = String>, separator: &str) -> String {
    parts.collect::<Vec<_>>().join(separator)
}
