//! Conversions between types.

use std::sync::Arc;

use crate::cel::{
    scalar::time,
    value::{Outcome, Val, error, no_overload},
};

pub(super) fn call<'a>(function: &str, args: &[Val<'a>]) -> Outcome<'a> {
    let [value] = args else { return no_overload() };
    match function {
        "dyn" => Ok(value.clone()),
        "type" => Ok(Val::Type(value.type_name().into())),
        "string" => to_string(value),
        "int" => to_int(value),
        "uint" => to_uint(value),
        "double" => to_double(value),
        "bool" => to_bool(value),
        "bytes" => match value {
            Val::Bytes(_) => Ok(value.clone()),
            Val::String(text) => Ok(Val::Bytes(Arc::from(text.as_bytes()))),
            _ => no_overload(),
        },
        "duration" => match value {
            Val::Duration(_) => Ok(value.clone()),
            Val::Int(nanos) => Ok(Val::Duration(*nanos)),
            Val::String(text) => time::parse_duration(text)
                .map_or_else(|| conversion("google.protobuf.Duration"), |d| Ok(Val::Duration(d))),
            _ => no_overload(),
        },
        "timestamp" => match value {
            Val::Timestamp(_) => Ok(value.clone()),
            Val::Int(seconds) => in_range(i128::from(*seconds) * 1_000_000_000),
            Val::String(text) => time::parse_rfc3339(text)
                .map_or_else(|| conversion("google.protobuf.Timestamp"), in_range),
            _ => no_overload(),
        },
        _ => no_overload(),
    }
}

fn in_range<'a>(nanos: i128) -> Outcome<'a> {
    if time::is_in_range(nanos) { Ok(Val::Timestamp(nanos)) } else { error("timestamp overflow") }
}

fn conversion<'a>(to: &str) -> Outcome<'a> {
    error(format!("type conversion error from 'string' to '{to}'"))
}

fn to_string<'a>(value: &Val<'a>) -> Outcome<'a> {
    match value {
        Val::String(_) => Ok(value.clone()),
        Val::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Val::text(text)),
            Err(_) => error("invalid UTF-8 in bytes, cannot convert to string"),
        },
        Val::Bool(_)
        | Val::Int(_)
        | Val::Uint(_)
        | Val::Double(_)
        | Val::Duration(_)
        | Val::Timestamp(_)
        | Val::Ip(_)
        | Val::Cidr(_) => Ok(Val::text(value.to_string())),
        _ => no_overload(),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the range is judged before")]
fn to_int<'a>(value: &Val<'a>) -> Outcome<'a> {
    match value {
        Val::Int(_) => Ok(value.clone()),
        Val::Uint(number) => {
            i64::try_from(*number).map_or_else(|_| error("integer overflow"), |n| Ok(Val::Int(n)))
        }
        Val::Double(number) if number.abs() < 9_223_372_036_854_775_807.0 => {
            Ok(Val::Int(*number as i64))
        }
        Val::Double(_) => error("integer overflow"),
        Val::String(text) => go_integer(text)
            .and_then(|text| text.parse().ok())
            .map_or_else(|| conversion("int"), |n| Ok(Val::Int(n))),
        Val::Duration(nanos) => Ok(Val::Int(*nanos)),
        Val::Timestamp(nanos) => Ok(Val::Int(nanos.div_euclid(1_000_000_000) as i64)),
        _ => no_overload(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is judged before"
)]
fn to_uint<'a>(value: &Val<'a>) -> Outcome<'a> {
    match value {
        Val::Uint(_) => Ok(value.clone()),
        Val::Int(number) => u64::try_from(*number)
            .map_or_else(|_| error("unsigned integer overflow"), |n| Ok(Val::Uint(n))),
        Val::Double(number) if (0.0..18_446_744_073_709_551_615.0).contains(number) => {
            Ok(Val::Uint(*number as u64))
        }
        Val::Double(_) => error("unsigned integer overflow"),
        Val::String(text) => match text.parse() {
            Ok(number) if !text.starts_with('+') => Ok(Val::Uint(number)),
            _ => conversion("uint"),
        },
        _ => no_overload(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "as the conversion of the language")]
fn to_double<'a>(value: &Val<'a>) -> Outcome<'a> {
    match value {
        Val::Double(_) => Ok(value.clone()),
        Val::Int(number) => Ok(Val::Double(*number as f64)),
        Val::Uint(number) => Ok(Val::Double(*number as f64)),
        Val::String(text) => match text.parse::<f64>() {
            Ok(number)
                if number.is_finite() || text.to_lowercase().contains("inf") || number.is_nan() =>
            {
                Ok(Val::Double(number))
            }
            _ => conversion("double"),
        },
        _ => no_overload(),
    }
}

fn to_bool<'a>(value: &Val<'a>) -> Outcome<'a> {
    match value {
        Val::Bool(_) => Ok(value.clone()),
        Val::String(text) => match &**text {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Val::Bool(true)),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Val::Bool(false)),
            _ => conversion("bool"),
        },
        _ => no_overload(),
    }
}

fn go_integer(text: &str) -> Option<&str> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}
