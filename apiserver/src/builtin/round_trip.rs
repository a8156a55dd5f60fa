//! An object after Go has decoded and encoded it: without unknown fields and empty values, with all fields
//! that are always written, and with quantities in their canonical form.
//!
//! `strip` leaves the form in which "not set" and "absent" are the same, which defaulting needs;
//! `fill` completes the form that clients get. Neither returns errors: see `decode` for that.

use serde_json::{Map, Value};

use super::{catalog::go_struct, decode::OBJECT_META, go_type::GoType, go_union, timestamp};
use crate::quantity;

/// Removes everything that Go drops when it decodes.
pub(crate) fn strip(name: &str, object: &mut Value) {
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    let Value::Object(fields) = object else { return };
    let known = &go_struct(name).fields;
    fields.retain(|name, value| known.contains_key(name.as_str()) && !value.is_null());
    for (name, field) in known {
        if let GoType::Struct(inner) = &field.ty {
            strip(inner, fields.entry(*name).or_insert_with(|| field.ty.zero()));
        } else if let Some(value) = fields.get_mut(*name) {
            strip_value(&field.ty, value);
            go_union::for_each_schema(field, value, strip_value);
            // An empty list that is always written differs from no list until it is stored.
            if field.ty.is_zero(value) && (field.omitted || !value.is_array()) {
                fields.remove(*name);
            }
        }
    }
}

/// Removes the empty lists that the storage of the real server does not keep.
pub(crate) fn drop_empty_lists(name: &str, object: &mut Value) {
    let Value::Object(fields) = object else { return };
    let known = &go_struct(name).fields;
    for (name, value) in fields {
        let Some(field) = known.get(name.as_str()) else { continue };
        if value.as_array().is_some_and(Vec::is_empty) {
            *value = Value::Null;
        } else {
            drop_inside(&field.ty, value);
        }
    }
}

fn drop_inside(ty: &GoType, value: &mut Value) {
    match (ty, value) {
        (GoType::Pointer(inner), value) => drop_inside(inner, value),
        (GoType::Struct(name), value) => drop_empty_lists(name, value),
        (GoType::List(element), Value::Array(list)) => {
            for item in list {
                drop_inside(element, item);
            }
        }
        (GoType::Map(element), Value::Object(map)) => {
            for item in map.values_mut() {
                drop_inside(element, item);
            }
        }
        _ => {}
    }
}

/// The metadata of an object of any type after Go has decoded and encoded it.
pub(crate) fn round_trip_metadata(metadata: &mut Value) {
    round_trip(OBJECT_META, metadata);
}

/// An object of a struct after Go has decoded and encoded it.
pub(super) fn round_trip(name: &str, object: &mut Value) {
    strip(name, object);
    fill(name, object);
}

/// Adds everything that Go writes even if it is empty.
pub(crate) fn fill(name: &str, object: &mut Value) {
    let Value::Object(fields) = object else { return };
    for (name, field) in &go_struct(name).fields {
        if let Some(value) = fields.get_mut(*name) {
            fill_value(&field.ty, value);
        } else if !field.omitted {
            let mut zero = field.ty.zero();
            fill_value(&field.ty, &mut zero);
            fields.insert((*name).to_owned(), zero);
        }
        let is_empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
        let by_value = matches!(field.ty, GoType::Struct(_));
        if field.omitted && by_value && fields.get(*name).is_some_and(is_empty) {
            fields.remove(*name);
        }
    }
}

fn strip_value(ty: &GoType, value: &mut Value) {
    match (ty, value) {
        (GoType::Pointer(inner), value) => strip_value(inner, value),
        (GoType::Struct(name), value) => strip(name, value),
        (GoType::List(element), Value::Array(list)) => {
            for item in list {
                strip_element(element, item);
            }
        }
        (GoType::Map(element), Value::Object(map)) if **element == GoType::Quantity => {
            map.values_mut().for_each(quantity::canonicalise_resource);
        }
        (GoType::Map(element), Value::Object(map)) => {
            for item in map.values_mut() {
                strip_element(element, item);
            }
        }
        (GoType::Quantity, value) => quantity::canonicalise(value),
        (GoType::Float64, value) => shorten(value),
        (GoType::Time, Value::String(text)) => timestamp::to_seconds(text),
        (GoType::MicroTime, Value::String(text)) => timestamp::to_microseconds(text),
        _ => {}
    }
}

/// Go writes a whole float without a fraction.
fn shorten(value: &mut Value) {
    const SAFE: f64 = 9_007_199_254_740_992.0;
    let float = value.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < SAFE);
    if let Some(float) = float.filter(|_| value.is_f64()) {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole, and fits")]
        let whole = float as i64;
        *value = whole.into();
    }
}

/// An element that is `null` is the empty value of its type.
fn strip_element(ty: &GoType, value: &mut Value) {
    if value.is_null() {
        *value = ty.zero();
    }
    strip_value(ty, value);
}

fn fill_value(ty: &GoType, value: &mut Value) {
    match (ty, value) {
        (GoType::Pointer(inner), value) => fill_value(inner, value),
        (GoType::Struct(name), value) => fill(name, value),
        (GoType::List(element), Value::Array(list)) => {
            for item in list {
                fill_value(element, item);
            }
        }
        (GoType::Map(element), Value::Object(map)) => {
            for item in map.values_mut() {
                fill_value(element, item);
            }
        }
        _ => {}
    }
}
