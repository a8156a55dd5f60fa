//! From JSON to a message, as Go writes it: fields in the order of their numbers, entries of maps in
//! the order of their keys, and whatever is no pointer even if it is empty.
//!
//! The objects are those of the server itself: a value of a wrong type is written as an empty one.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;

use super::{
    layout::{self, Field, Layout, SCHEMA, Slot},
    special,
    wire::{put_bytes, put_double, put_message, put_varint},
};
use crate::builtin::{GoType, WireForm};

/// Writes an object.
pub(super) fn message(of: &Layout, object: &Value, out: &mut Vec<u8>) {
    for (number, slot) in &of.slots {
        match slot {
            Slot::Embedded(inner) => put_message(*number, out, |out| message(inner, object, out)),
            Slot::Field(of) => field(*number, *of, object.get(of.name), out),
        }
    }
}

/// Writes a list of objects: every list has the same two fields.
pub(super) fn list(of_item: &Layout, list: &Value, out: &mut Vec<u8>) {
    let metadata = list.get("metadata").unwrap_or(&Value::Null);
    put_message(1, out, |out| message(layout::of("meta.v1.ListMeta"), metadata, out));
    for item in items(list.get("items").unwrap_or(&Value::Null)) {
        put_message(2, out, |out| message(of_item, item, out));
    }
}

fn field(number: u32, of: Field, value: Option<&Value>, out: &mut Vec<u8>) {
    let value = value.unwrap_or(&Value::Null);
    match of.ty {
        GoType::Pointer(_) | GoType::Bytes if value.is_null() => {}
        GoType::List(_) if of.form == WireForm::Items && value.is_null() => {}
        GoType::List(ty) if of.form != WireForm::Items => {
            for item in items(value) {
                element(number, ty, of.form, item, out);
            }
        }
        GoType::Map(ty) => entries(number, ty, of.form, value, out),
        ty => element(number, ty, of.form, value, out),
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn entries(number: u32, ty: &GoType, form: WireForm, value: &Value, out: &mut Vec<u8>) {
    let mut entries: Vec<(&String, &Value)> = value.as_object().into_iter().flatten().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    for (key, item) in entries {
        put_message(number, out, |out| {
            put_bytes(1, key.as_bytes(), out);
            element(2, ty, form, item, out);
        });
    }
}

/// Writes one value, even if it is empty.
fn element(number: u32, ty: &GoType, form: WireForm, value: &Value, out: &mut Vec<u8>) {
    let integer = value.as_i64().unwrap_or_default();
    match ty {
        GoType::Pointer(inner) => element(number, inner, form, value, out),
        GoType::Struct(name) => {
            put_message(number, out, |out| message(layout::of(name), value, out));
        }
        GoType::String => put_bytes(number, text(value).as_bytes(), out),
        GoType::Bytes => put_bytes(number, &decoded(value), out),
        GoType::Bool => put_varint(number, value.as_bool().unwrap_or_default().into(), out),
        GoType::Int32 | GoType::Int64 => put_varint(number, integer.cast_unsigned(), out),
        GoType::Float64 => put_double(number, value.as_f64().unwrap_or_default(), out),
        GoType::Quantity => put_message(number, out, |out| special::put_quantity(value, out)),
        GoType::IntOrString => {
            put_message(number, out, |out| special::put_int_or_string(value, out));
        }
        GoType::Time | GoType::MicroTime => {
            let with_micros = *ty == GoType::MicroTime;
            put_message(number, out, |out| special::put_time(value, with_micros, out));
        }
        GoType::Any => {
            let schema = |value: &Value, out: &mut Vec<u8>| message(layout::of(SCHEMA), value, out);
            put_message(number, out, |out| special::put_any(form, value, &schema, out));
        }
        GoType::List(inner) => put_message(number, out, |out| {
            for item in items(value) {
                element(1, inner, WireForm::Plain, item, out);
            }
        }),
        // Protobuf has no maps of maps.
        GoType::Map(inner) => entries(number, inner, form, value, out),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn decoded(value: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(text(value)).unwrap_or_default()
}
