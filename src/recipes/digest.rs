//! SHA-256 of JSON trees that does not depend on the order of fields, and may be stored: another version of
//! Operetta gives the same. `diff::hash` is for trees within one process.

use ring::digest::{Context, SHA256};
use serde_json::{Map, Value};

/// The digest of a tree.
pub(super) fn of(value: &Value) -> [u8; 32] {
    let mut text = String::new();
    write(value, &mut text);
    of_bytes(&[text.as_bytes()])
}

/// The digest of a list of texts: each is preceded by its length, so that no two lists are the same bytes.
pub(super) fn of_texts(texts: &[&str]) -> [u8; 32] {
    let lengths: Vec<_> = texts.iter().map(|text| text.len().to_be_bytes()).collect();
    let parts = lengths.iter().zip(texts);
    let parts: Vec<&[u8]> =
        parts.flat_map(|(length, text)| [&length[..], text.as_bytes()]).collect();
    of_bytes(&parts)
}

/// As hexadecimal digits in lower case, two for each byte.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn of_bytes(parts: &[&[u8]]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    for part in parts {
        context.update(part);
    }
    let mut bytes = [0; 32];
    bytes.copy_from_slice(context.finish().as_ref());
    bytes
}

/// Compact JSON with sorted fields.
fn write(value: &Value, text: &mut String) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&value.to_string());
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(fields) => write_fields(fields, text),
    }
}

fn write_fields(fields: &Map<String, Value>, text: &mut String) {
    // They are sorted, unless some crate enables `preserve_order` of serde_json.
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_unstable_by_key(|(name, _)| *name);
    text.push('{');
    for (name, value) in sorted {
        text.push_str(&Value::from(&**name).to_string());
        text.push(':');
        write(value, text);
        text.push(',');
    }
    text.push('}');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_is_the_same_in_each_version_of_operetta() {
        let value = json!({"b": [1, "x", null, true, {}], "a": {"c": 1.5}});
        let expected = "706f06b0";
        assert_eq!(&hex(&of(&value))[..8], expected);
    }

    #[test]
    fn different_trees_and_different_lists_of_texts_differ() {
        let trees = [
            json!({}),
            json!([]),
            json!(null),
            json!(""),
            json!([[]]),
            json!([[], []]),
            json!({"a": "b"}),
            json!(["a", "b"]),
            json!(["a\",\"b"]),
            json!({"a": {"b": 1}}),
            json!({"a": {}, "b": 1}),
        ];
        let digests: std::collections::BTreeSet<_> = trees.iter().map(of).collect();
        assert_eq!(digests.len(), trees.len());
        assert_ne!(of_texts(&["a", "bc"]), of_texts(&["ab", "c"]));
        assert_ne!(of_texts(&["a", ""]), of_texts(&["a"]));
    }
}
