//! The cells of tables that are more than the value of a field.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::age;

pub(super) fn created(object: &Value, now: Timestamp) -> Value {
    since(&object["metadata"]["creationTimestamp"], now).unwrap_or(json!("<unknown>"))
}

pub(super) fn since(time: &Value, now: Timestamp) -> Option<Value> {
    time.as_str().map(|time| json!(age(time, now)))
}

pub(super) fn since_or_none(time: &Value, now: Timestamp) -> Value {
    since(time, now).unwrap_or(json!("<none>"))
}

pub(super) fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

pub(super) fn or_none(value: &Value) -> Value {
    json!(text(value).unwrap_or("<none>"))
}

pub(super) fn or_unset(value: &Value) -> Value {
    or(value, "<unset>")
}

pub(super) fn or_zero(value: &Value) -> Value {
    or(value, "0")
}

pub(super) fn or(value: &Value, otherwise: &str) -> Value {
    json!(text(value).unwrap_or(otherwise))
}

/// `Kind/name`.
pub(super) fn reference(value: &Value) -> Value {
    let part = |field: &str| value[field].as_str().unwrap_or_default();
    json!(format!("{}/{}", part("kind"), part("name")))
}

/// The name, and whether this annotation makes the object the default of its type.
pub(super) fn default_name(object: &Value, annotation: &str) -> Value {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let is_default = object["metadata"]["annotations"][annotation] == "true";
    json!(if is_default { format!("{name} (default)") } else { name.to_owned() })
}

/// The first three, and how many more there are.
pub(super) fn first_three(texts: &[String]) -> String {
    match texts.len() {
        0..=3 => texts.join(","),
        many => format!("{} + {} more...", texts[..3].join(","), many - 3),
    }
}

/// The same, or that there are none.
pub(super) fn some_of(texts: &[String]) -> Value {
    if texts.is_empty() { json!("<unset>") } else { json!(first_three(texts)) }
}

/// A label selector as `a=b,c in (d,e)`.
pub(super) fn selector(selector: &Value) -> Value {
    let pairs = selector["matchLabels"].as_object().into_iter().flatten();
    let pairs = pairs.map(|(key, value)| {
        let value = value.as_str().unwrap_or_default();
        (key.as_str(), format!("{key}={value}"))
    });
    let expressions = list(&selector["matchExpressions"])
        .map(|rule| (rule["key"].as_str().unwrap_or_default(), expression(rule)));
    let mut rules: Vec<(&str, String)> = pairs.chain(expressions).collect();
    rules.sort_by_key(|(key, _)| *key);
    joined(&rules.into_iter().map(|(_, text)| text).collect::<Vec<_>>())
}

fn expression(rule: &Value) -> String {
    let key = rule["key"].as_str().unwrap_or_default();
    let mut values: Vec<&str> = list(&rule["values"]).filter_map(Value::as_str).collect();
    values.sort_unstable();
    match rule["operator"].as_str() {
        Some("In") => format!("{key} in ({})", values.join(",")),
        Some("NotIn") => format!("{key} notin ({})", values.join(",")),
        Some("DoesNotExist") => format!("!{key}"),
        _ => key.to_owned(),
    }
}

pub(super) fn or_empty(value: &Value) -> Value {
    json!(text(value).unwrap_or_default())
}

/// A number or percentage, or that it does not apply.
pub(super) fn or_not(value: &Value) -> Value {
    match value {
        Value::Null => json!("N/A"),
        Value::String(text) => json!(text),
        other => json!(other.to_string()),
    }
}

pub(super) fn number(value: &Value) -> Value {
    json!(value.as_i64().unwrap_or_default())
}

pub(super) fn count(value: &Value) -> Value {
    json!(value.as_array().map_or(0, Vec::len))
}

pub(super) fn truth(value: &Value) -> Value {
    json!(if value == true { "True" } else { "False" })
}

/// Labels as `a=b,c=d`.
pub(super) fn labels(labels: &Value) -> Value {
    let pairs = labels.as_object().into_iter().flatten();
    let pairs: Vec<String> =
        pairs.map(|(key, v)| format!("{key}={}", v.as_str().unwrap_or_default())).collect();
    joined(&pairs)
}

/// Texts separated by commas.
pub(super) fn joined<T: AsRef<str>>(texts: &[T]) -> Value {
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    if texts.is_empty() { json!("<none>") } else { json!(texts.join(",")) }
}
