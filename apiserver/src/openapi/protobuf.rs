//! Documents as protobuf: the messages of the published definitions of `OpenAPI` documents.
//!
//! A document may have tens of megabytes, which take ten times as much as a tree: only its parts are read, one after the
//! other.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

use super::message::{Choice, Field, Form, Message, Messages};
use crate::protobuf::wire::{put_bytes, put_double, put_message, put_varint};

/// Writes a document, whose first `levels` are not read as trees.
pub(super) fn encode(messages: &Messages, document: &[u8], levels: usize) -> Vec<u8> {
    let mut out = Vec::new();
    if let Ok(document) = serde_json::from_slice(document) {
        unread_fields(messages, "Document", document, levels, &mut out);
    }
    out
}

/// The fields of an object in their order.
struct Unread<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

fn unread_fields(
    messages: &Messages,
    name: &str,
    text: &RawValue,
    levels: usize,
    out: &mut Vec<u8>,
) {
    let object = if levels > 0 { serde_json::from_str(text.get()).ok() } else { None };
    let (Some(Unread(object)), Choice::This(message)) =
        (object, messages.choice(name, &Value::Null))
    else {
        return fields(messages, name, &read(text), out);
    };
    for field in &message.fields {
        if let Some((_, text)) = object.iter().find(|(key, _)| key == field.key) {
            unread_value(messages, field, text, levels - 1, out);
        }
    }
    for (key, text) in object.iter().filter(|(key, _)| message.field(key).is_none()) {
        if let Some(field) = message.rest(key.starts_with("x-")) {
            put_message(field.number, out, |out| {
                put_bytes(1, key.as_bytes(), out);
                unread_value(messages, &Field { number: 2, ..*field }, text, levels - 1, out);
            });
        }
    }
}

fn unread_value(
    messages: &Messages,
    field: &Field,
    text: &RawValue,
    levels: usize,
    out: &mut Vec<u8>,
) {
    match field.form {
        Form::Message(inner) if levels > 0 && text.get().starts_with('{') => {
            put_message(field.number, out, |out| unread_fields(messages, inner, text, levels, out));
        }
        _ => field_value(messages, field, &read(text), out),
    }
}

fn read(text: &RawValue) -> Value {
    serde_json::from_str(text.get()).unwrap_or_default()
}

impl<'de: 'a, 'a> Deserialize<'de> for Unread<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Unread<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Unread(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
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
        let encoded = encode(&Messages::new(VERSION_2), document.to_string().as_bytes(), 2);
        assert_eq!(encoded, b"\x0a\x032.0\x12\x06\x0a\x01T\x12\x011");
    }

    #[test]
    fn extensions_are_named_texts_in_yaml() {
        let document = json!({ "definitions": { "A": { "type": "object", "x-b": "c" } } });
        let text = document.to_string();
        let [encoded, as_tree] =
            [2, 0].map(|levels| encode(&Messages::new(VERSION_2), text.as_bytes(), levels));
        assert_eq!(encoded, as_tree);
        let extension = b"\xfa\x01\x0b\x0a\x03x-b\x12\x04\x12\x02c\n";
        assert!(encoded.ends_with(extension), "{encoded:?}");
    }
}
