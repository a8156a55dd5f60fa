//! Free JSON as Go prints it with `%v` and `%s`.

use serde_json::Value;

/// The value without quotes and types: `map[a:1 b:[x y]]`.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) if number.is_i64() => number.to_string(),
        Value::Number(number) => float(number.as_f64().unwrap_or_default()),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(" "))
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{name}:{}", plain(value)));
            format!("map[{}]", fields.collect::<Vec<_>>().join(" "))
        }
    }
}

/// The value where text is expected: `%!s(int64=1)` if it is none.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => "%!s(<nil>)".to_owned(),
        Value::Bool(_) | Value::Number(_) => {
            format!("%!s({}={})", type_name(value), plain(value))
        }
        Value::String(_) | Value::Array(_) | Value::Object(_) => plain(value),
    }
}

/// The Go type of the value.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// With an exponent from a million on, and below a ten thousandth.
fn float(number: f64) -> String {
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = exponent.parse().unwrap_or_default();
    if number == 0.0 || (-4..6).contains(&power) {
        return number.to_string();
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.abs())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_printed_as_go_prints_them() {
        for (value, expected) in [
            (json!({ "b": ["x", null], "a": { "c": 1.5 } }), "map[a:map[c:1.5] b:[x <nil>]]"),
            (json!([1, true, ""]), "[1 true ]"),
            (json!(1e-7), "1e-07"),
            (json!(1_234_567.5), "1.2345675e+06"),
        ] {
            assert_eq!(plain(&value), expected);
        }
        assert_eq!(text(&json!(1)), "%!s(int64=1)");
    }
}
