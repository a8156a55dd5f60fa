//! Values whose JSON looks nothing like their message: times, quantities, numbers or strings, JSON
//! itself, and the alternatives in the schema of a custom resource.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    envelope::text,
    wire::{Malformed, Records, put_bytes, put_message, put_varint},
};
use crate::{builtin::WireForm, deep};

const NANOS: i128 = 1_000_000_000;

/// Seconds and nanoseconds; nothing for no time.
pub(super) fn put_time(value: &Value, with_micros: bool, out: &mut Vec<u8>) {
    let Some(Ok(time)) = value.as_str().map(str::parse::<Timestamp>) else { return };
    let nanos = time.as_nanosecond();
    let seconds = i64::try_from(nanos.div_euclid(NANOS)).unwrap_or_default();
    let fraction = u64::try_from(nanos.rem_euclid(NANOS) / 1000 * 1000).unwrap_or_default();
    put_varint(1, seconds.cast_unsigned(), out);
    put_varint(2, if with_micros { fraction } else { 0 }, out);
}

/// `null` for no time.
pub(super) fn time(bytes: &[u8], with_micros: bool) -> Result<Value, Malformed> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let (mut seconds, mut nanos) = (0, 0);
    for record in Records::new("Timestamp", bytes) {
        match record? {
            (1, payload) => seconds = payload.varint("Seconds")?.cast_signed(),
            (2, payload) => nanos = int32(payload.varint("Nanos")?),
            _ => {}
        }
    }
    let time = Timestamp::new(seconds, if with_micros { nanos } else { 0 });
    let outside = "Time.MarshalJSON: year outside of range [0,9999]";
    let time = time.map_err(|_| Malformed::Value(outside.to_owned()))?;
    Ok(Value::from(if with_micros { format!("{time:.6}") } else { format!("{time:.0}") }))
}

/// Go keeps the lower half.
#[expect(clippy::cast_possible_truncation, reason = "as Go does")]
pub(super) fn int32(varint: u64) -> i32 {
    varint as i32
}

/// Go shows a whole number without a fraction.
pub(super) fn double(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "it has no fraction and is small")]
        return Value::from(value as i64);
    }
    Value::from(value)
}

/// The text of a quantity.
pub(super) fn put_quantity(value: &Value, out: &mut Vec<u8>) {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => "0".to_owned(),
    };
    put_bytes(1, text.as_bytes(), out);
}

/// The text of a quantity.
pub(super) fn quantity(bytes: &[u8]) -> Result<Value, Malformed> {
    let mut found = Value::from("0");
    for record in Records::new("Quantity", bytes) {
        if let (1, payload) = record? {
            found = Value::from(text(payload.bytes("String_")?));
        }
    }
    Ok(found)
}

/// Which of both it is, and both.
pub(super) fn put_int_or_string(value: &Value, out: &mut Vec<u8>) {
    put_varint(1, value.is_string().into(), out);
    put_varint(2, value.as_i64().unwrap_or_default().cast_unsigned(), out);
    put_bytes(3, value.as_str().unwrap_or_default().as_bytes(), out);
}

/// A number or a string.
pub(super) fn int_or_string(bytes: &[u8]) -> Result<Value, Malformed> {
    let (mut is_text, mut number, mut string) = (false, 0, String::new());
    for record in Records::new("IntOrString", bytes) {
        match record? {
            (1, payload) => is_text = payload.varint("Type")? != 0,
            (2, payload) => number = int32(payload.varint("IntVal")?),
            (3, payload) => string = text(payload.bytes("StrVal")?),
            _ => {}
        }
    }
    Ok(if is_text { Value::from(string) } else { Value::from(number) })
}

/// What JSON shows as anything. `schema` writes a schema inside of it.
pub(super) fn put_any(
    form: WireForm,
    value: &Value,
    schema: &dyn Fn(&Value, &mut Vec<u8>),
    out: &mut Vec<u8>,
) {
    let schema = |number, value: &Value, out: &mut Vec<u8>| {
        put_message(number, out, |out| schema(value, out));
    };
    match (form, value) {
        (WireForm::OrBool, value) => {
            // A schema allows something.
            put_varint(1, (value.is_object() || value == true).into(), out);
            if value.is_object() {
                schema(2, value, out);
            }
        }
        (WireForm::OrArray, Value::Array(list)) => list.iter().for_each(|it| schema(2, it, out)),
        (WireForm::OrStrings, Value::Array(list)) => {
            list.iter().filter_map(Value::as_str).for_each(|it| put_bytes(2, it.as_bytes(), out));
        }
        (WireForm::OrArray | WireForm::OrStrings, Value::Object(_)) => schema(1, value, out),
        (WireForm::Raw, value) if *value != Value::Null => {
            put_bytes(1, value.to_string().as_bytes(), out);
        }
        _ => {}
    }
}

/// What JSON shows as anything. `schema_in` reads a schema inside of it.
pub(super) fn any(
    form: WireForm,
    bytes: &[u8],
    schema_in: &dyn Fn(&[u8]) -> Result<Value, Malformed>,
) -> Result<Value, Malformed> {
    let (mut flag, mut schema, mut list) = (false, None, Vec::new());
    for record in Records::new("JSON", bytes) {
        let (number, payload) = record?;
        match (form, number) {
            (WireForm::Raw, 1) => return json(payload.bytes("Raw")?),
            (WireForm::OrBool, 1) => flag = payload.varint("Allows")? != 0,
            (WireForm::OrStrings, 2) => {
                list.push(Value::from(text(payload.bytes("Property")?)));
            }
            (WireForm::OrBool, 2) | (WireForm::OrArray | WireForm::OrStrings, 1) => {
                schema = Some(schema_in(payload.bytes("Schema")?)?);
            }
            (WireForm::OrArray, 2) => {
                list.push(schema_in(payload.bytes("JSONSchemas")?)?);
            }
            _ => {}
        }
    }
    Ok(match (form, schema) {
        (_, Some(schema)) => schema,
        (WireForm::OrBool, None) => Value::from(flag),
        (WireForm::OrArray | WireForm::OrStrings, None) if !list.is_empty() => Value::Array(list),
        _ => Value::Null,
    })
}

fn json(bytes: &[u8]) -> Result<Value, Malformed> {
    if deep::nesting(bytes) > deep::limit() {
        deep::stop();
        return Err(Malformed::TooDeep);
    }
    deep::parse(bytes).map_err(|error| Malformed::Value(format!("json: {error}")))
}
