//! What is wrong with the spec or the metadata of an access review.

use serde_json::{Map, Value, json};

use crate::schema::{FieldError, FieldPath};

/// What is wrong with the attributes: one kind of them must be given.
pub(super) fn attributes(spec: &Value) -> Vec<FieldError> {
    let of = |name: &str| spec[name].is_object();
    match (of("resourceAttributes"), of("nonResourceAttributes")) {
        (true, true) => {
            let why = "cannot be specified in combination with resourceAttributes";
            vec![FieldError::invalid(&at("nonResourceAttributes"), &path_shown(spec), why)]
        }
        (false, false) => {
            let why =
                "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            vec![FieldError::invalid(&at("resourceAttributes"), &Value::Null, why)]
        }
        _ => Vec::new(),
    }
}

/// What is wrong with the subject: it must be somebody.
pub(super) fn subject(spec: &Value) -> Option<FieldError> {
    let is_empty = |value: &Value| value.as_array().is_none_or(Vec::is_empty);
    let is_nobody = text(&spec["user"]).is_empty() && is_empty(&spec["groups"]);
    let why = "at least one of user or group must be specified";
    is_nobody.then(|| FieldError::invalid(&at("user"), &json!(""), why))
}

/// What is wrong with the metadata: there must be none.
pub(super) fn metadata(metadata: &Value) -> Option<FieldError> {
    complaint(metadata, "must be empty")
}

/// What is wrong with a review that is about one namespace.
pub(super) fn local(spec: &Value, metadata: &Value) -> Vec<FieldError> {
    let namespace = &metadata["namespace"];
    let mut rest = metadata.clone();
    if let Some(rest) = rest.as_object_mut() {
        rest.remove("namespace");
    }
    let mut errors: Vec<FieldError> =
        complaint(&rest, "must be empty except for namespace").into_iter().collect();
    let attributes = &spec["resourceAttributes"];
    if attributes.is_object() && text(&attributes["namespace"]) != text(namespace) {
        let given = json!(text(&attributes["namespace"]));
        let at = FieldPath::new("spec.resourceAttributes.namespace");
        errors.push(FieldError::invalid(&at, &given, "must match metadata.namespace"));
    }
    if spec["nonResourceAttributes"].is_object() {
        let why = "disallowed on this kind of request";
        errors.push(FieldError::invalid(&at("nonResourceAttributes"), &path_shown(spec), why));
    }
    errors
}

fn complaint(metadata: &Value, why: &str) -> Option<FieldError> {
    let is_empty = metadata.as_object().is_none_or(Map::is_empty);
    (!is_empty).then(|| FieldError::invalid(&FieldPath::new("metadata"), metadata, why))
}

/// As a Go program prints it.
fn path_shown(spec: &Value) -> Value {
    let given = &spec["nonResourceAttributes"];
    json!({"Path": text(&given["path"]), "Verb": text(&given["verb"])})
}

fn at(field: &str) -> FieldPath {
    FieldPath::new("spec").child(field)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
