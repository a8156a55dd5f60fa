//! Carries the changes of a typed object over to the JSON that it was read from, so that fields which the Rust type does
//! not know survive. Pure.

use serde_json::{Map, Value};

/// The original with what changed between `before`, which is the original as its Rust type, and `after`.
pub(super) fn carried(original: Value, before: &Value, after: Value) -> Value {
    if *before == after {
        return original;
    }
    match (original, before, after) {
        (Value::Object(original), Value::Object(before), Value::Object(after)) => {
            Value::Object(fields(original, before, after))
        }
        (Value::Array(original), Value::Array(before), Value::Array(after)) => {
            Value::Array(items(&original, before, after))
        }
        (_, _, after) => after,
    }
}

fn fields(
    mut original: Map<String, Value>,
    before: &Map<String, Value>,
    after: Map<String, Value>,
) -> Map<String, Value> {
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        original.remove(name);
    }
    for (name, after) in after {
        let before = before.get(&name);
        if before == Some(&after) {
            continue;
        }
        let value = match (original.remove(&name), before) {
            (Some(original), Some(before)) => carried(original, before, after),
            (_, _) => after,
        };
        // An option that became empty is a field that is removed.
        if !value.is_null() {
            original.insert(name, value);
        }
    }
    original
}

/// An item that did not change is the original one, wherever it is now; of a list of the same length each item is that of
/// its place.
fn items(original: &[Value], before: &[Value], after: Vec<Value>) -> Vec<Value> {
    let is_in_place = original.len() == before.len() && before.len() == after.len();
    let item = |(at, after): (usize, Value)| {
        let same = before.iter().position(|before| *before == after);
        match (same, is_in_place) {
            (Some(same), _) if same < original.len() => original[same].clone(),
            (None, true) => carried(original[at].clone(), &before[at], after),
            (_, _) => after,
        }
    };
    after.into_iter().enumerate().map(item).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What a Rust type knows: all but names that begin with `x`, with a default.
    fn known(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let known = fields.iter().filter(|(name, _)| !name.starts_with('x'));
                let mut known: Map<_, _> =
                    known.map(|(name, value)| (name.clone(), known_inside(value))).collect();
                known.entry("default").or_insert(Value::Null);
                Value::Object(known)
            }
            other => known_inside(other),
        }
    }

    fn known_inside(value: &Value) -> Value {
        match value {
            Value::Object(_) => known(value),
            Value::Array(items) => items.iter().map(known).collect(),
            other => other.clone(),
        }
    }

    fn after(original: &Value, change: impl Fn(&mut Value)) -> Value {
        let before = known(original);
        let mut after = before.clone();
        change(&mut after);
        carried(original.clone(), &before, after)
    }

    #[test]
    fn what_the_type_does_not_know_survives_each_change() {
        let original = json!({
            "a": 1, "x": "kept", "inner": {"b": 2, "xb": "kept"},
            "list": [{"name": "one", "xo": 1}, {"name": "two", "xt": 2}],
        });
        let changed = after(&original, |it| it["inner"]["b"] = json!(3));
        assert_eq!(changed["inner"], json!({"b": 3, "xb": "kept"}));
        assert_eq!((&changed["x"], &changed["list"]), (&original["x"], &original["list"]));
        let changed = after(&original, |it| it["list"][1]["name"] = json!("other"));
        assert_eq!(changed["list"][1], json!({"name": "other", "xt": 2}));
        let changed = after(&original, |it| drop(it["list"].as_array_mut().unwrap().remove(0)));
        assert_eq!(changed["list"], json!([{"name": "two", "xt": 2}]));
        let changed = after(&original, |it| {
            it["list"].as_array_mut().unwrap().push(json!({"name": "three"}));
        });
        assert_eq!(changed["list"][2], json!({"name": "three"}));
        assert_eq!(changed["list"][0]["xo"], 1);
    }

    #[test]
    fn nothing_changes_where_the_handler_changes_nothing() {
        for original in [json!({"a": [1, {"x": 2}], "x": null}), json!({}), json!([1])] {
            assert_eq!(after(&original, |_| {}), original);
        }
    }

    #[test]
    fn fields_are_added_below_absent_ones_and_removed() {
        let original = json!({"a": 1, "x": 2});
        let changed = after(&original, |it| it["default"] = json!({"deep": {"er": 1}}));
        assert_eq!(changed, json!({"a": 1, "x": 2, "default": {"deep": {"er": 1}}}));
        let changed = after(&original, |it| it["a"] = Value::Null);
        assert_eq!(changed, json!({"x": 2}), "a field of the type that is now `None`");
        let changed = after(&original, |it| drop(it.as_object_mut().unwrap().remove("a")));
        assert_eq!(changed, json!({"x": 2}));
    }
}
