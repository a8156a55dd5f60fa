//! Where an object lacks what a test expects. An object may have more.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// An object that lacks what a test expects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diff {
    expected: Value,
    actual: Value,
    different_paths: Vec<String>,
}

impl Diff {
    /// `None` if the object has all that is expected.
    pub(super) fn of(actual: Value, expected: &Value) -> Option<Self> {
        let mut different_paths = Vec::new();
        compare(&actual, expected, "", &mut different_paths);
        let expected = expected.clone();
        (!different_paths.is_empty()).then_some(Self { expected, actual, different_paths })
    }
}

fn compare(actual: &Value, expected: &Value, path: &str, different: &mut Vec<String>) {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => {
            for (name, expected) in expected {
                let actual = actual.get(name).unwrap_or(&Value::Null);
                compare(actual, expected, &format!("{path}.{name}"), different);
            }
        }
        (Value::Array(actual), Value::Array(expected)) => {
            for (index, expected) in expected.iter().enumerate() {
                let actual = counterpart(actual, index, expected);
                compare(actual, expected, &format!("{path}[{index}]"), different);
            }
        }
        _ if actual == expected => {}
        _ => different.push(if path.is_empty() { "." } else { path }.to_owned()),
    }
}

/// An item with a name is found by that, others by their place.
fn counterpart<'a>(actual: &'a [Value], index: usize, expected: &Value) -> &'a Value {
    let found = match expected.get("name").filter(|name| name.is_string()) {
        Some(name) => actual.iter().find(|item| item.get("name") == Some(name)),
        None => actual.get(index),
    };
    found.unwrap_or(&Value::Null)
}

impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expected, actual, different_paths } = self;
        write!(f, "at {}: expected {expected:#}, found {actual:#}", different_paths.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_may_have_more_than_is_expected() {
        let actual =
            json!({"a": 1, "b": [{"name": "x", "c": 2}, {"name": "y", "c": 3}], "d": [1, 2]});
        for (expected, paths) in [
            (json!({}), vec![]),
            (json!({"b": [{"name": "y", "c": 3}], "d": [1]}), vec![]),
            (json!({"a": 2, "e": true}), vec![".a", ".e"]),
            (json!({"b": [{"name": "z"}, {"name": "x", "c": 0}]}), vec![".b[0]", ".b[1].c"]),
            (json!({"d": [2, 2, 3]}), vec![".d[0]", ".d[2]"]),
            (json!([]), vec!["."]),
        ] {
            let diff = Diff::of(actual.clone(), &expected);
            let found = diff.map(|diff| diff.different_paths).unwrap_or_default();
            assert_eq!(found, paths, "{expected}");
        }
    }
}
