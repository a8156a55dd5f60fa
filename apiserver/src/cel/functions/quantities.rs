//! Quantities such as `500m` and `1Gi`.

use crate::{
    cel::value::{Outcome, Val, error, no_overload},
    quantity::Quantity,
};

pub(super) fn call<'a>(function: &str, args: &[Val<'a>]) -> Outcome<'a> {
    match (function, args) {
        ("isQuantity", [Val::String(text)]) => Ok(Val::Bool(Quantity::parse(text).is_some())),
        ("quantity", [Val::String(text)]) => parse(text),
        ("isInteger", [Val::Quantity(quantity, _)]) => Ok(Val::Bool(quantity.as_whole().is_some())),
        ("asInteger", [Val::Quantity(quantity, _)]) => match quantity.as_whole() {
            Some(whole) => Ok(Val::Int(whole)),
            None => error("cannot convert value to integer"),
        },
        ("asApproximateFloat", [Val::Quantity(quantity, _)]) => {
            Ok(Val::Double(quantity.as_float()))
        }
        ("sign", [Val::Quantity(quantity, _)]) => {
            Ok(Val::Int(quantity.compare(Quantity::whole(0)) as i64))
        }
        ("isGreaterThan", [Val::Quantity(a, _), Val::Quantity(b, _)]) => {
            Ok(Val::Bool(a.compare(*b).is_gt()))
        }
        ("isLessThan", [Val::Quantity(a, _), Val::Quantity(b, _)]) => {
            Ok(Val::Bool(a.compare(*b).is_lt()))
        }
        ("compareTo", [Val::Quantity(a, _), Val::Quantity(b, _)]) => {
            Ok(Val::Int(a.compare(*b) as i64))
        }
        ("add", [Val::Quantity(a, _), Val::Quantity(b, _)]) => Ok(Val::Quantity(a.plus(*b), true)),
        ("add", [Val::Quantity(a, _), Val::Int(b)]) => {
            Ok(Val::Quantity(a.plus(Quantity::whole(*b)), true))
        }
        ("sub", [Val::Quantity(a, _), Val::Quantity(b, _)]) => Ok(Val::Quantity(a.minus(*b), true)),
        ("sub", [Val::Quantity(a, _), Val::Int(b)]) => {
            Ok(Val::Quantity(a.minus(Quantity::whole(*b)), true))
        }
        _ => no_overload(),
    }
}

fn parse<'a>(text: &str) -> Outcome<'a> {
    if let Some(quantity) = Quantity::parse(text) {
        return Ok(Val::Quantity(quantity, false));
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let rest = unsigned.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest =
        rest.strip_prefix('.').unwrap_or(rest).trim_start_matches(|c: char| c.is_ascii_digit());
    let suffix =
        rest.trim_start_matches(['e', 'E', 'i', 'n', 'u', 'm', 'k', 'K', 'M', 'G', 'T', 'P']);
    let exponent = suffix.strip_prefix(['+', '-']).unwrap_or(suffix);
    let is_number = unsigned.len() > rest.len() && unsigned != ".";
    let is_suffixed = is_number && exponent.bytes().all(|byte| byte.is_ascii_digit());
    error(if is_suffixed {
        "unable to parse quantity's suffix"
    } else {
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    })
}
