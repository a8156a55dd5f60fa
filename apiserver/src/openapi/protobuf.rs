//! Documents as protobuf: the messages of the published definitions of `OpenAPI` documents.

use serde_json::Value;

use super::message::{Choice, Field, Form, Message, Messages};
use crate::protobuf::wire::{put_bytes, put_double, put_message, put_varint};

/// Writes a document.
pub(super) fn encode(messages: &Messages, document: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    fields(messages, "Document", document, &mut out);
    out
}

fn fields(messages: &Messages, name: &str, value: &Value, out: &mut Vec<u8>) {
    match messages.choice(name, value) {
        Choice::Boolean(number) => put_varint(number, u64::from(value == true), out),
        Choice::Inner(number, inner) => {
            put_message(number, out, |out| fields(messages, inner, value, out));
        }
        Choice::This(message) => own_fields(messages, message, value, out),
    }
}

fn own_fields(messages: &Messages, message: &Message, value: &Value, out: &mut Vec<u8>) {
    let Some(object) = value.as_object() else {
        // A message for one value or a list of them.
        if let Some(field) = message.field("") {
            field_value(messages, field, value, out);
        }
        return;
    };
    if let Some(field) = message.field("") {
        return field_value(messages, field, value, out);
    }
    let is_known = |key: &str| message.field(key).is_some();
    for field in &message.fields {
        if let Some(value) = object.get(field.key) {
            field_value(messages, field, value, out);
        }
    }
    for (key, value) in object.iter().filter(|(key, _)| !is_known(key)) {
        if let Some(field) = message.rest(key.starts_with("x-")) {
            put_message(field.number, out, |out| {
                put_bytes(1, key.as_bytes(), out);
                field_value(messages, &Field { number: 2, ..*field }, value, out);
            });
        }
    }
}

fn field_value(messages: &Messages, field: &Field, value: &Value, out: &mut Vec<u8>) {
    let number = field.number;
    match (field.form, value) {
        (Form::Message(inner), Value::Array(items)) => {
            for item in items {
                put_message(number, out, |out| fields(messages, inner, item, out));
            }
        }
        (Form::Whole(inner) | Form::Message(inner), value) => {
            put_message(number, out, |out| fields(messages, inner, value, out));
        }
        (Form::Any, Value::Array(items)) if field.key == "enum" => {
            for item in items {
                any(number, item, out);
            }
        }
        (Form::Any, value) => any(number, value, out),
        (Form::Double, value) => put_double(number, value.as_f64().unwrap_or_default(), out),
        (Form::Leaf, Value::Array(items)) => {
            for item in items {
                leaf(number, item, out);
            }
        }
        (Form::Leaf, value) => leaf(number, value, out),
    }
}

fn leaf(number: u32, value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::String(text) => put_bytes(number, text.as_bytes(), out),
        Value::Bool(true) => put_varint(number, 1, out),
        Value::Number(value) => {
            // A negative number is written as its two's complement.
            put_varint(number, value.as_i64().unwrap_or_default().cast_unsigned(), out);
        }
        _ => {}
    }
}

/// Any value is text in YAML, an empty text in it as Go writes it.
fn any(number: u32, value: &Value, out: &mut Vec<u8>) {
    let yaml = serde_yaml_ng::to_string(value).unwrap_or_default().replace("''", "\"\"");
    put_message(number, out, |out| put_bytes(2, yaml.as_bytes(), out));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openapi::message::VERSION_2;
    use serde_json::json;

    #[test]
    fn a_document_is_written_in_the_order_of_its_fields() {
        let document = json!({ "info": { "title": "T", "version": "1" }, "swagger": "2.0" });
        let encoded = encode(&Messages::new(VERSION_2), &document);
        assert_eq!(encoded, b"\x0a\x032.0\x12\x06\x0a\x01T\x12\x011");
    }

    #[test]
    fn extensions_are_named_texts_in_yaml() {
        let document = json!({ "definitions": { "A": { "type": "object", "x-b": "c" } } });
        let encoded = encode(&Messages::new(VERSION_2), &document);
        let extension = b"\xfa\x01\x0b\x0a\x03x-b\x12\x04\x12\x02c\n";
        assert!(encoded.ends_with(extension), "{encoded:?}");
    }
}
