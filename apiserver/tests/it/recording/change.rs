//! All changes of one place that are worth a question.

use serde_json::{Value, json};

/// The changes of an object that is created: everything is once absent, empty, and of a wrong form.
pub(crate) fn of_new(object: &Value) -> Vec<(String, Option<Value>)> {
    let mut changes = vec![(String::new(), None)];
    for (at, value) in places(object) {
        changes.push((at.clone(), None));
        changes.extend(wrong(&value).into_iter().map(|wrong| (at.clone(), Some(wrong))));
    }
    changes
}

/// The changes of an object that exists: everything is once absent, and once something else of the same form.
pub(crate) fn of_live(object: &Value) -> Vec<(String, Option<Value>)> {
    let mut changes = Vec::new();
    for (at, value) in places(object) {
        if at.matches('/').count() <= 4 {
            changes.push((at.clone(), None));
        }
        changes.extend(other(&value).map(|other| (at, Some(other))));
    }
    changes
}

/// Every place of an object but those of its metadata, outer ones first.
fn places(object: &Value) -> Vec<(String, Value)> {
    let mut places = Vec::new();
    for (name, value) in object.as_object().into_iter().flatten() {
        if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            visit(&format!("/{}", escaped(name)), value, &mut places);
        }
    }
    places
}

fn visit(at: &str, value: &Value, places: &mut Vec<(String, Value)>) {
    places.push((at.to_owned(), value.clone()));
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                visit(&format!("{at}/{}", escaped(name)), value, places);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                visit(&format!("{at}/{index}"), value, places);
            }
        }
        _ => {}
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn wrong(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) if text.parse::<f64>().is_ok() => {
            vec![json!("-1"), json!(""), json!("Bad_Value!")]
        }
        Value::String(_) => vec![json!(""), json!("Bad_Value!"), json!("-x")],
        Value::Number(_) => vec![json!(-1), json!(0), json!(70_000)],
        Value::Bool(flag) => vec![json!(!flag)],
        Value::Array(items) => {
            let twice = items.first().map(|first| {
                let mut items = items.clone();
                items.push(first.clone());
                Value::from(items)
            });
            std::iter::once(json!([])).chain(twice).collect()
        }
        Value::Object(_) => vec![json!({})],
        Value::Null => Vec::new(),
    }
}

fn other(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => Some(match text.as_str() {
            "true" => json!("false"),
            _ if text.parse::<f64>().is_ok() => json!(format!("{text}0")),
            _ => json!(format!("{text}x")),
        }),
        Value::Number(number) => Some(json!(number.as_i64().unwrap_or_default() + 1)),
        Value::Bool(flag) => Some(json!(!flag)),
        Value::Array(items) if items.len() > 1 => {
            Some(Value::from(items.iter().rev().cloned().collect::<Vec<_>>()))
        }
        _ => None,
    }
}
