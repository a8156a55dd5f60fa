//! How deep a desired child, or a status, may be nested. Walks and drops without recursion: a value
//! that is deep enough would end the process by overflowing its stack.

use serde_json::Value;

use crate::plan::RefusalReason;

/// JSON that is read back is refused beyond 128 levels; the server adds some around a child.
const MAX_DEPTH: usize = 100;

/// Refuses what is nested too deep: it must be dismantled.
///
/// # Errors
/// It is.
pub fn check(child: &Value) -> Result<(), RefusalReason> {
    let mut left = vec![(child, 1)];
    while let Some((value, depth)) = left.pop() {
        if depth > MAX_DEPTH {
            return Err(RefusalReason::TooDeep(MAX_DEPTH));
        }
        match value {
            Value::Array(items) => left.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => left.extend(fields.values().map(|field| (field, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    Ok(())
}

/// Drops a value level by level.
pub fn dismantle(value: Value) {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.into_iter().map(|(_, field)| field)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(depth: usize) -> Value {
        (1..depth).fold(json!("x"), |inner, level| match level % 2 {
            0 => Value::Array(vec![inner]),
            _ => Value::Object([("a".to_owned(), inner)].into_iter().collect()),
        })
    }

    #[test]
    fn what_is_nested_too_deep_is_refused_and_overflows_no_stack() {
        assert!(check(&nested(MAX_DEPTH)).is_ok());
        for depth in [MAX_DEPTH + 1, 1_000_000] {
            let child = nested(depth);
            assert_eq!(check(&child), Err(RefusalReason::TooDeep(MAX_DEPTH)));
            dismantle(child);
        }
    }
}
