//! The cells of the columns of custom types: what was found, as the type of the column prints it.

use jiff::Timestamp;
use serde_json::{Number, Value, json};

use super::{
    age::age,
    path::{Budget, Found},
};
use crate::schema::go_value;

/// So many bytes of a cell count as one value.
const BYTES_OF_A_VALUE: usize = 16;

/// The cell; `None` for what the type cannot print, or if the budget does not last.
pub(super) fn cell(
    kind: &str,
    found: Found<'_>,
    now: Timestamp,
    budget: &mut Budget,
) -> Option<Value> {
    match (kind, found) {
        ("string", found) => text(found, budget).map(Value::from),
        ("integer", Found::Json(Value::Number(number))) => integer(number).map(Value::from),
        ("integer", Found::Float(float)) => integer(&Number::from_f64(float)?).map(Value::from),
        ("number", Found::Json(Value::Number(number))) => Some(json!(number)),
        ("number", Found::Float(float)) => Some(json!(float)),
        ("boolean", Found::Json(Value::Bool(truth))) => Some(json!(truth)),
        ("boolean", Found::Bool(truth)) => Some(json!(truth)),
        ("date", Found::Json(Value::String(time))) => Some(json!(since(time, now))),
        ("date", Found::Text(time)) => Some(json!(since(time, now))),
        _ => None,
    }
}

/// A fraction is cut off.
fn integer(number: &Number) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "numbers beyond are the largest")]
    number.as_i64().or_else(|| number.as_f64().map(|float| float as i64))
}

/// The zero time is not known.
fn since(time: &str, now: Timestamp) -> String {
    if matches!(time, "" | "null") { "<unknown>".to_owned() } else { age(time, now) }
}

fn text(found: Found<'_>, budget: &mut Budget) -> Option<String> {
    let text = match found {
        Found::Json(Value::Null) => "<no value>".to_owned(),
        Found::Json(Value::String(text)) => text.clone(),
        Found::Json(value) => go_value::print(value),
        Found::Text(text) => text.to_owned(),
        Found::Integer(integer) => integer.to_string(),
        Found::Float(float) => go_value::print_float(float),
        Found::Bool(truth) => truth.to_string(),
        Found::Byte(byte) => byte.to_string(),
    };
    budget.take(text.len() / BYTES_OF_A_VALUE)?;
    Some(text)
}
