//! From a message to JSON. What Go cannot tell from an absent field is left out; unknown fields are
//! skipped, as protobuf demands.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Map, Value};

use super::{
    envelope::text,
    layout::{self, Field, Layout, SCHEMA, Slot},
    special,
    wire::{Malformed, Payload, Records, varint},
};
use crate::builtin::{GoType, WireForm};

/// How deep messages may be nested; only schemas nest without end.
const DEPTH_LIMIT: usize = 120;

/// Reads an object into its fields.
pub(super) fn message(
    of: &Layout,
    bytes: &[u8],
    depth: usize,
    fields: &mut Map<String, Value>,
) -> Result<(), Malformed> {
    if depth > DEPTH_LIMIT {
        return Err(Malformed::TooDeep);
    }
    for record in Records::new(of.name, bytes) {
        let (number, payload) = record?;
        match of.slots.get(&number) {
            None => {}
            Some(Slot::Embedded(inner)) => {
                message(inner, payload.bytes(inner.name)?, depth + 1, fields)?;
            }
            Some(Slot::Field(of)) => field(*of, payload, depth, fields)?,
        }
    }
    Ok(())
}

/// Reads a list of objects: every list has the same two fields.
pub(super) fn list(
    of_item: &Layout,
    bytes: &[u8],
    fields: &mut Map<String, Value>,
) -> Result<(), Malformed> {
    let (mut metadata, mut items) = (Map::new(), Vec::new());
    for record in Records::new("List", bytes) {
        match record? {
            (1, payload) => {
                let bytes = payload.bytes("ListMeta")?;
                message(layout::of("meta.v1.ListMeta"), bytes, 1, &mut metadata)?;
            }
            (2, payload) => {
                let mut item = Map::new();
                message(of_item, payload.bytes("Items")?, 1, &mut item)?;
                items.push(Value::Object(item));
            }
            _ => {}
        }
    }
    fields.insert("metadata".to_owned(), Value::Object(metadata));
    fields.insert("items".to_owned(), Value::Array(items));
    Ok(())
}

fn field(
    of: Field,
    payload: Payload<'_>,
    depth: usize,
    fields: &mut Map<String, Value>,
) -> Result<(), Malformed> {
    match of.ty {
        GoType::List(ty) if of.form != WireForm::Items => {
            let list = fields.entry(of.name).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                append(of.with(ty), payload, depth, list)?;
            }
        }
        GoType::Map(ty) => {
            let map = fields.entry(of.name).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(map) = map {
                let (key, value) = entry(of.with(ty), payload.bytes(of.name)?, depth)?;
                map.insert(key, value);
            }
        }
        ty => {
            // A message that comes in parts is their union.
            let value = element(of, payload, depth, fields.remove(of.name))?;
            if matches!(ty, GoType::Pointer(_)) && !value.is_null() || !is_empty(ty, &value) {
                fields.insert(of.name.to_owned(), value);
            }
        }
    }
    Ok(())
}

impl Field {
    /// The same for an element of this list or map.
    fn with(self, ty: &'static GoType) -> Self {
        Self { ty, ..self }
    }
}

fn is_empty(ty: &GoType, value: &Value) -> bool {
    let is_struct = matches!(ty, GoType::Struct(_));
    ty.is_zero(value) || (is_struct && value.as_object().is_some_and(Map::is_empty))
}

fn append(
    of: Field,
    payload: Payload<'_>,
    depth: usize,
    list: &mut Vec<Value>,
) -> Result<(), Malformed> {
    let is_number = matches!(of.ty, GoType::Bool | GoType::Int32 | GoType::Int64);
    let Payload::Bytes(mut packed) = payload else {
        list.push(element(of, payload, depth, None)?);
        return Ok(());
    };
    if !is_number {
        list.push(element(of, payload, depth, None)?);
        return Ok(());
    }
    while !packed.is_empty() {
        list.push(element(of, Payload::Varint(varint(&mut packed)?), depth, None)?);
    }
    Ok(())
}

/// One entry of a map: key and value, each empty when absent.
fn entry(of: Field, bytes: &[u8], depth: usize) -> Result<(String, Value), Malformed> {
    let (mut key, mut value) = (String::new(), None);
    for record in Records::new("map", bytes) {
        match record? {
            (1, payload) => key = text(payload.bytes(of.name)?),
            (2, payload) => value = Some(element(of, payload, depth, None)?),
            _ => {}
        }
    }
    Ok((key, value.unwrap_or_else(|| of.ty.zero())))
}

/// Reads the message of a Go struct and adds its fields to those of an earlier part.
fn object(
    name: &str,
    bytes: &[u8],
    depth: usize,
    mut fields: Map<String, Value>,
) -> Result<Value, Malformed> {
    message(layout::of(name), bytes, depth, &mut fields)?;
    Ok(Value::Object(fields))
}

/// Reads one value.
fn element(
    of: Field,
    payload: Payload<'_>,
    depth: usize,
    before: Option<Value>,
) -> Result<Value, Malformed> {
    let bytes = || payload.bytes(of.name);
    Ok(match of.ty {
        GoType::Pointer(inner) => element(of.with(inner), payload, depth, before)?,
        GoType::Struct(name) => {
            let fields = match before {
                Some(Value::Object(fields)) => fields,
                _ => Map::new(),
            };
            object(name, bytes()?, depth + 1, fields)?
        }
        GoType::String => Value::from(text(bytes()?)),
        GoType::Bytes => Value::from(BASE64_STANDARD.encode(bytes()?)),
        GoType::Bool => Value::from(payload.varint(of.name)? != 0),
        GoType::Int32 => Value::from(special::int32(payload.varint(of.name)?)),
        GoType::Int64 => Value::from(payload.varint(of.name)?.cast_signed()),
        GoType::Float64 => match payload {
            Payload::Fixed64(bits) => special::double(f64::from_bits(bits)),
            _ => return Err(payload.wrong(of.name)),
        },
        GoType::Quantity => special::quantity(bytes()?)?,
        GoType::IntOrString => special::int_or_string(bytes()?)?,
        GoType::Time => special::time(bytes()?, false)?,
        GoType::MicroTime => special::time(bytes()?, true)?,
        GoType::Any => {
            let schema_in = |bytes: &[u8]| object(SCHEMA, bytes, depth + 1, Map::new());
            special::any(of.form, bytes()?, &schema_in)?
        }
        GoType::List(inner) => {
            let mut list = Vec::new();
            for record in Records::new(of.name, bytes()?) {
                if let (1, payload) = record? {
                    list.push(element(of.with(inner), payload, depth + 1, None)?);
                }
            }
            Value::Array(list)
        }
        // Protobuf has no maps of maps.
        GoType::Map(_) => return Err(payload.wrong(of.name)),
    })
}
