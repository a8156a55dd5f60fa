//! Limits the depth of a handler's response. Walks and drops values without recursion: a deep one
//! would overflow the stack and end the process.

use std::mem;

use serde_json::Value;

/// The parser refuses JSON beyond 128 levels; the server adds some around a child.
const MAX_DEPTH: usize = 100;

/// Removes a value that is nested too deep, and returns why, with its name.
pub(super) fn limit(value: &mut Value, name: impl FnOnce(&Value) -> String) -> Option<String> {
    if !is_too_deep(value) {
        return None;
    }
    let name = name(value);
    dismantle(mem::take(value));
    Some(format!("{name}: it is nested more than {MAX_DEPTH} levels deep"))
}

fn is_too_deep(value: &Value) -> bool {
    let mut left = vec![(value, 1)];
    while let Some((value, depth)) = left.pop() {
        if depth > MAX_DEPTH {
            return true;
        }
        match value {
            Value::Array(items) => left.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => left.extend(fields.values().map(|field| (field, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
}

/// Drops a value level by level.
fn dismantle(value: Value) {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.into_iter().map(|(_, field)| field)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// A value with so many levels, lists and objects by turns.
#[cfg(test)]
pub(super) fn nested(depth: usize) -> Value {
    (1..depth).fold("x".into(), |inner, level| match level % 2 {
        0 => Value::Array(vec![inner]),
        _ => Value::Object([("a".to_owned(), inner)].into_iter().collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_nested_too_deep_is_removed_and_overflows_no_stack() {
        let deepest = nested(MAX_DEPTH);
        let mut value = deepest.clone();
        let name = |_: &Value| "it".to_owned();
        assert_eq!((limit(&mut value, name), value), (None, deepest));
        for depth in [MAX_DEPTH + 1, 1_000_000] {
            let mut value = nested(depth);
            let why = limit(&mut value, name).unwrap();
            assert_eq!(why, "it: it is nested more than 100 levels deep");
            assert_eq!(value, Value::Null);
        }
    }
}
