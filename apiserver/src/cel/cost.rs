//! The cost of a call by the sizes of its arguments, as the real server counts it.

use super::value::{Failure, Val};

const STRING: f64 = 0.1;
const PATTERN: f64 = 0.25;
/// A question to the authorizer.
const AUTHORIZATION: u64 = 350_000;

/// The cost of a call that depends on its arguments; `None` if it depends on the result.
pub(super) fn before(function: &str, overload: &str, args: &[Val<'_>]) -> Option<u64> {
    let size = |at: usize| args.get(at).and_then(Val::size).unwrap_or(1);
    Some(match function {
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
            args.first().map_or(0, traversal)
        }
        "ip" if overload == "cidr_ip" => 1,
        "url" | "lowerAscii" | "upperAscii" | "substring" | "trim" | "cidr" | "isIP" | "isCIDR"
        | "quantity" | "isQuantity" | "semver" | "isSemver" | "ip" => scaled(size(0), STRING),
        "replace" | "split" | "ip.isCanonical" => scaled(size(0), 2.0 * STRING),
        "find" | "findAll" => matching(size(0), size(1)),
        "containsIP" => {
            let parsed =
                if overload == "cidr_contains_ip_string" { scaled(size(1), STRING) } else { 0 };
            scaled(2 * size(0), STRING) + parsed
        }
        "containsCIDR" => {
            let string = overload == "cidr_contains_cidr_string";
            let parsed = if string { scaled(size(1), STRING) } else { 0 };
            scaled(2 * size(0), STRING) + scaled(size(0), STRING) + 1 + parsed
        }
        "validate" => match args.first() {
            Some(Val::Format(format)) => matching(size(1), format.pattern_size),
            _ => 1,
        },
        "_==_" if is_of_library(args) => 1,
        "_==_" | "_!=_" => scaled(smaller(args), STRING),
        "join" | "lists.range" | "slice" | "reverse" => return None,
        "flatten" => listed(args.get(1).map_or(1, depth), size(0)),
        "distinct" | "sort" => compared(args.first()),
        "@sortByAssociatedKeys" => compared(args.get(1)),
        "sets.contains" | "sets.intersects" => size(0) * size(1) + 1,
        "sets.equivalent" => 2 * size(0) * size(1) + 1,
        "check" if matches!(args.first(), Some(Val::Authorizer(_))) => AUTHORIZATION,
        _ => by_overload(overload, args),
    })
}

/// The cost of a call that depends on its result.
pub(super) fn after(function: &str, result: &Result<Val<'_>, Failure>) -> u64 {
    let size = result.as_ref().ok().and_then(Val::size).unwrap_or(1);
    match function {
        "join" => scaled(size, 2.0 * STRING),
        _ => listed(1, size),
    }
}

fn by_overload(overload: &str, args: &[Val<'_>]) -> u64 {
    let size = |at: usize| args.get(at).map_or(1, actual_size);
    match overload {
        "starts_with_string" | "ends_with_string" => scaled(size(1), STRING),
        "string_to_bytes" | "bytes_to_string" | "strings_quote" | "string_format" => {
            scaled(size(0), STRING)
        }
        "in_list" => size(1),
        "less_string"
        | "greater_string"
        | "less_equals_string"
        | "greater_equals_string"
        | "less_bytes"
        | "greater_bytes"
        | "less_equals_bytes"
        | "greater_equals_bytes" => scaled(smaller(args), STRING),
        "add_string" | "add_bytes" => scaled(size(0) + size(1), STRING),
        "matches_string" | "matches" => matching(size(0), size(1)),
        "contains_string" => scaled(size(0), STRING) * scaled(size(1), STRING),
        _ => 1,
    }
}

fn smaller(args: &[Val<'_>]) -> u64 {
    args.iter().map(actual_size).min().unwrap_or(1)
}

fn actual_size(value: &Val<'_>) -> u64 {
    match value {
        Val::Optional(Some(inner)) => actual_size(inner),
        other => other.size().unwrap_or(1),
    }
}

fn is_of_library(args: &[Val<'_>]) -> bool {
    matches!(
        args.first(),
        Some(
            Val::Quantity(..)
                | Val::Ip(_)
                | Val::Cidr(_)
                | Val::Format(_)
                | Val::Url(_)
                | Val::Semver(_)
        )
    )
}

fn depth(value: &Val<'_>) -> u64 {
    match value {
        Val::Int(depth) => u64::try_from(*depth).unwrap_or(0),
        _ => 1,
    }
}

/// Every element is compared with every other.
fn compared(list: Option<&Val<'_>>) -> u64 {
    let Some(Val::List(list)) = list else { return 1 };
    let size = list.len() as u64;
    let is_text = size > 0 && matches!(list.get(0), Ok(Val::String(_) | Val::Bytes(_)));
    let factor = if is_text { 2.0 + STRING } else { 2.0 };
    truncated(size.saturating_mul(size), factor) + 11
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the real server multiplies with floats too"
)]
fn truncated(size: u64, factor: f64) -> u64 {
    (size as f64 * factor) as u64
}

fn listed(factor: u64, size: u64) -> u64 {
    factor.saturating_mul(size).saturating_add(11)
}

fn matching(text: u64, pattern: u64) -> u64 {
    scaled(text + 1, STRING).saturating_mul(scaled(pattern, PATTERN))
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the real server multiplies with floats too"
)]
fn scaled(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the real server multiplies with floats too"
)]
fn traversal(value: &Val<'_>) -> u64 {
    match value {
        Val::String(text) => (text.len() as f64 * STRING) as u64,
        Val::Bytes(bytes) => (bytes.len() as f64 * STRING) as u64,
        Val::List(list) => list.iter().flatten().map(|element| traversal(&element)).sum(),
        Val::Map(map) => {
            let cost = |key: &Val<'_>| traversal(key);
            let values = map.keys().into_iter().filter_map(|key| {
                let value = map.get(&key).ok()?;
                Some(cost(&key) + traversal(&value))
            });
            values.sum()
        }
        _ => 1,
    }
}
