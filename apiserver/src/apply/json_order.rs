//! Equality and order of JSON values as server-side apply sees them: `1` and `1.0` are the same.
//!
//! `serde_json` tells integers from floats; a field path must not, or a key written by one client
//! would not be found by another.

use std::{cmp::Ordering, collections::BTreeMap};

use serde_json::{Map, Number, Value};

/// A JSON value that can be a key of an ordered collection.
#[derive(Debug, Clone)]
pub(super) struct Ordered(pub(super) Value);

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        compare(&self.0, &other.0).is_eq()
    }
}

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(&self.0, &other.0)
    }
}

/// Whether two values are the same to server-side apply.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    compare(left, right).is_eq()
}

fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(l), Value::Number(r)) => compare_numbers(l, r),
        (Value::String(l), Value::String(r)) => l.cmp(r),
        (Value::Bool(l), Value::Bool(r)) => l.cmp(r),
        (Value::Array(l), Value::Array(r)) => compare_lists(l, r),
        (Value::Object(l), Value::Object(r)) => compare_maps(l, r),
        _ => rank(left).cmp(&rank(right)),
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    if let (Some(l), Some(r)) = (left.as_i64(), right.as_i64()) {
        return l.cmp(&r);
    }
    left.as_f64().partial_cmp(&right.as_f64()).unwrap_or(Ordering::Equal)
}

fn compare_lists(left: &[Value], right: &[Value]) -> Ordering {
    let differing = left.iter().zip(right).map(|(l, r)| compare(l, r));
    let first = differing.into_iter().find(|order| order.is_ne());
    first.unwrap_or_else(|| left.len().cmp(&right.len()))
}

fn compare_maps(left: &Map<String, Value>, right: &Map<String, Value>) -> Ordering {
    // Sorted, because another crate of the build may turn on serde_json's insertion order.
    let left: BTreeMap<_, _> = left.iter().collect();
    let right: BTreeMap<_, _> = right.iter().collect();
    let differing = left.iter().zip(&right);
    let order = |((lk, lv), (rk, rv)): ((&&String, &&Value), (&&String, &&Value))| {
        lk.cmp(rk).then_with(|| compare(lv, rv))
    };
    let first = differing.map(order).find(|order| order.is_ne());
    first.unwrap_or_else(|| left.len().cmp(&right.len()))
}
