//! JSON values as kube-apiserver prints them in its messages.
//!
//! Strings are quoted, numbers and booleans bare, anything else is compact JSON with sorted keys.

use std::fmt::Write;

use serde_json::{Number, Value};

/// The value as a message shows it.
pub(crate) fn print(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Number(number) => print_number(number, 1e-4),
        _ => json(value),
    }
}

/// The value as JSON, as messages show what is not a scalar.
pub(crate) fn json(value: &Value) -> String {
    let mut out = String::new();
    write_json(&mut out, value);
    out
}

/// The value of an enum as the list of supported values shows it: strings bare, the rest as JSON.
pub(crate) fn bare(value: &Value) -> String {
    if let Value::String(text) = value {
        return text.clone();
    }
    json(value)
}

/// A number without quotes, for use inside a sentence.
pub(crate) fn print_float(number: f64) -> String {
    float(number, 1e-4)
}

/// The text in double quotes, with escapes for what cannot be printed.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        escape(&mut out, character);
    }
    out.push('"');
    out
}

fn escape(out: &mut String, character: char) {
    let code = u32::from(character);
    match character {
        '"' | '\\' => out.extend(['\\', character]),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\x07' => out.push_str("\\a"),
        '\x08' => out.push_str("\\b"),
        '\x0c' => out.push_str("\\f"),
        '\x0b' => out.push_str("\\v"),
        _ if code < 0x20 || code == 0x7f => push(out, format_args!("\\x{code:02x}")),
        _ if !is_invisible(character) => out.push(character),
        _ if code <= 0xffff => push(out, format_args!("\\u{code:04x}")),
        _ => push(out, format_args!("\\U{code:08x}")),
    }
}

/// Characters that would make a message unreadable or lie about its order.
pub(crate) fn is_invisible(character: char) -> bool {
    let code = u32::from(character);
    character.is_control()
        || (character.is_whitespace() && character != ' ')
        || matches!(code, 0xad | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0xfeff)
        || matches!(code, 0xe000..=0xf8ff | 0xfff0..=0xfffb | 0xe0000..=0x0010_ffff)
}

fn write_json(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => push(out, format_args!("{value}")),
        Value::Number(number) => out.push_str(&print_number(number, 1e-6)),
        Value::String(text) => write_json_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write_json(out, item);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut names: Vec<_> = fields.keys().collect();
            names.sort();
            out.push('{');
            for (index, name) in names.into_iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write_json_string(out, name);
                out.push(':');
                write_json(out, &fields[name]);
            }
            out.push('}');
        }
    }
}

fn write_json_string(out: &mut String, text: &str) {
    for character in Value::from(text).to_string().chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                push(out, format_args!("\\u{:04x}", u32::from(character)));
            }
            _ => out.push(character),
        }
    }
}

fn print_number(number: &Number, smallest_plain: f64) -> String {
    match number.as_f64().filter(|_| !number.is_i64()) {
        Some(value) => float(value, smallest_plain),
        None => number.to_string(),
    }
}

fn float(value: f64, smallest_plain: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(smallest_plain..1e21).contains(&size) {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return match exponent.strip_prefix('-') {
            Some(exponent) => format!("{digits}e-{exponent:0>2}"),
            None => format!("{digits}e+{exponent:0>2}"),
        };
    }
    value.to_string()
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a String does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scalars_are_printed_as_go_prints_them() {
        for (value, text) in [
            (json!("a\"b"), r#""a\"b""#),
            (json!("a\0b\n\u{7f}"), r#""a\x00b\n\x7f""#),
            (json!("\u{202e}x"), r#""\u202ex""#),
            (json!("grün"), "\"grün\""),
            (json!(3), "3"),
            (json!(1.5), "1.5"),
            (json!(1e21), "1e+21"),
            (json!(0.00001), "1e-05"),
            (json!(u64::MAX), "18446744073709552000"),
            (json!(true), "true"),
            (Value::Null, "null"),
        ] {
            assert_eq!(print(&value), text);
        }
    }

    #[test]
    fn compound_values_are_compact_json_with_sorted_keys_and_html_escapes() {
        let value = json!({"b": ["<x>", null], "a": 1.0});
        assert_eq!(print(&value), r#"{"a":1,"b":["\u003cx\u003e",null]}"#);
    }
}
