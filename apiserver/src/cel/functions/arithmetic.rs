//! Arithmetic, which never wraps around.

use std::sync::Arc;

use crate::cel::{
    scalar::time,
    value::{Outcome, Val, error, no_overload},
};

const OVERFLOW: &str = "integer overflow";
const UNSIGNED_OVERFLOW: &str = "unsigned integer overflow";

pub(super) fn call<'a>(function: &str, args: &[Val<'a>]) -> Outcome<'a> {
    match (function, args) {
        ("!_", [Val::Bool(value)]) => Ok(Val::Bool(!value)),
        ("-_", [Val::Int(value)]) => int(value.checked_neg()),
        ("-_", [Val::Double(value)]) => Ok(Val::Double(-value)),
        (_, [Val::Int(a), Val::Int(b)]) => ints(function, *a, *b),
        (_, [Val::Uint(a), Val::Uint(b)]) => uints(function, *a, *b),
        (_, [Val::Double(a), Val::Double(b)]) => doubles(function, *a, *b),
        ("_+_", [Val::String(a), Val::String(b)]) => Ok(Val::text(format!("{}{}", &**a, &**b))),
        ("_+_", [Val::Bytes(a), Val::Bytes(b)]) => Ok(Val::Bytes(Arc::from([&**a, &**b].concat()))),
        _ => times(function, args),
    }
}

fn times<'a>(function: &str, args: &[Val<'a>]) -> Outcome<'a> {
    match (function, args) {
        ("_+_", [Val::Duration(a), Val::Duration(b)]) => duration(a.checked_add(*b)),
        ("_-_", [Val::Duration(a), Val::Duration(b)]) => duration(a.checked_sub(*b)),
        (
            "_+_",
            [Val::Timestamp(time), Val::Duration(by)] | [Val::Duration(by), Val::Timestamp(time)],
        ) => timestamp(time + i128::from(*by)),
        ("_-_", [Val::Timestamp(time), Val::Duration(by)]) => timestamp(time - i128::from(*by)),
        ("_-_", [Val::Timestamp(a), Val::Timestamp(b)]) => duration(i64::try_from(a - b).ok()),
        _ => no_overload(),
    }
}

fn ints<'a>(function: &str, a: i64, b: i64) -> Outcome<'a> {
    match function {
        "_+_" => int(a.checked_add(b)),
        "_-_" => int(a.checked_sub(b)),
        "_*_" => int(a.checked_mul(b)),
        "_/_" if b == 0 => error("division by zero"),
        "_/_" => int(a.checked_div(b)),
        "_%_" if b == 0 => error("modulus by zero"),
        "_%_" => int(a.checked_rem(b)),
        _ => no_overload(),
    }
}

fn uints<'a>(function: &str, a: u64, b: u64) -> Outcome<'a> {
    let value = match function {
        "_+_" => a.checked_add(b),
        "_-_" => a.checked_sub(b),
        "_*_" => a.checked_mul(b),
        "_/_" if b == 0 => return error("division by zero"),
        "_/_" => a.checked_div(b),
        "_%_" if b == 0 => return error("modulus by zero"),
        "_%_" => a.checked_rem(b),
        _ => return no_overload(),
    };
    value.map_or_else(|| error(UNSIGNED_OVERFLOW), |value| Ok(Val::Uint(value)))
}

fn doubles<'a>(function: &str, a: f64, b: f64) -> Outcome<'a> {
    Ok(Val::Double(match function {
        "_+_" => a + b,
        "_-_" => a - b,
        "_*_" => a * b,
        "_/_" => a / b,
        _ => return no_overload(),
    }))
}

fn int<'a>(value: Option<i64>) -> Outcome<'a> {
    value.map_or_else(|| error(OVERFLOW), |value| Ok(Val::Int(value)))
}

fn duration<'a>(value: Option<i64>) -> Outcome<'a> {
    value.map_or_else(|| error("duration overflow"), |value| Ok(Val::Duration(value)))
}

fn timestamp<'a>(nanos: i128) -> Outcome<'a> {
    if time::is_in_range(nanos) { Ok(Val::Timestamp(nanos)) } else { error("timestamp overflow") }
}
