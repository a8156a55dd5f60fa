//! The bodies and the answers of operations.

use serde_json::{Map, Value, json};

use super::definitions::REFERENCE;

/// The answers by their codes; every operation may be unauthorized.
pub(super) fn responses(answers: Vec<(&'static str, &'static str, Value)>) -> Value {
    let answered = answers.into_iter().map(|(code, description, mut content)| {
        content["description"] = json!(description);
        (code.to_owned(), content)
    });
    let mut all: Map<String, Value> = answered.collect();
    all.insert("401".to_owned(), json!({ "description": "Unauthorized" }));
    Value::Object(all)
}

/// A body in each of these media types.
pub(super) fn content(media: &[&str], schema: &Value) -> Value {
    let each = media.iter().map(|&media| (media.to_owned(), json!({ "schema": schema })));
    json!({ "content": each.collect::<Map<_, _>>() })
}

/// Refers to a definition.
pub(super) fn reference(definition: &str) -> Value {
    json!({ "$ref": format!("{REFERENCE}{definition}") })
}

/// A required body.
pub(super) fn required(mut body: Value) -> Value {
    body["required"] = json!(true);
    body
}
