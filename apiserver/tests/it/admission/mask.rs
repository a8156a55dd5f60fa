//! What two servers need not have in common.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

static UID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap()
});
static PORT: LazyLock<Regex> = LazyLock::new(|| Regex::new("127.0.0.1:[0-9]+").unwrap());
static ALLOCATED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b10\.0\.\d+\.\d+\b").unwrap());
static RANDOM: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("\\b(made-)[bcdfghjklmnpqrstvwxz2456789]{5}\\b").unwrap());

/// A text without uids, ports and generated names.
pub(crate) fn text(text: &str) -> String {
    let text = UID.replace_all(text, "<uid>");
    let text = PORT.replace_all(&text, "<address>");
    let text = ALLOCATED.replace_all(&text, "<allocated>");
    RANDOM.replace_all(&text, "$1<random>").into_owned()
}

/// An answer: a `Status` whole, an object without what the server decides.
pub(crate) fn answer(value: &Value) -> Value {
    let mut value = value.clone();
    match &mut value {
        Value::Array(events) => {
            for event in events {
                event["object"] = object(&event["object"]);
            }
        }
        one if one["kind"] != "Status" => {
            *one = object(one);
            if let Some(items) = one.get_mut("items").and_then(Value::as_array_mut) {
                for item in items {
                    *item = object(item);
                }
            }
        }
        _ => {}
    }
    strings(&mut value);
    value
}

/// A call: the request of the review, with the objects in short.
pub(crate) fn call(review: &Value) -> Value {
    let mut request = review["request"].clone();
    for field in ["object", "oldObject"] {
        request[field] = object(&request[field]);
    }
    request["userInfo"] = json!("<user>");
    request["apiVersion"] = review["apiVersion"].clone();
    strings(&mut request);
    request
}

fn object(object: &Value) -> Value {
    if !object.is_object() {
        return object.clone();
    }
    let mut short = json!({});
    for field in ["apiVersion", "kind", "data", "spec", "items", "error", "status"] {
        if let Some(value) = object.get(field) {
            short[field] = value.clone();
        }
    }
    if matches!(object["kind"].as_str(), Some("Namespace" | "Deployment" | "Pod")) {
        short["spec"] = json!("<spec>");
        short["status"] = json!("<status>");
    }
    for field in ["name", "generateName", "namespace", "labels", "annotations", "generation"] {
        if let Some(value) = object["metadata"].get(field) {
            short["metadata"][field] = value.clone();
        }
    }
    short
}

fn strings(value: &mut Value) {
    match value {
        Value::String(inner) => *inner = text(inner),
        Value::Array(list) => list.iter_mut().for_each(strings),
        Value::Object(fields) => fields.values_mut().for_each(strings),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
