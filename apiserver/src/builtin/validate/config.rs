//! Config maps and secrets: keys, and what a type of secret must hold.

use serde_json::{Value, json};

use crate::{
    builtin::path,
    schema::{FieldError, FieldPath},
};

/// What a config map or a secret may hold, in bytes.
const SIZE_LIMIT: u64 = 1 << 20;

/// Keys and size of both maps of a config map.
pub(super) fn config_map(object: &Value, errors: &mut Vec<FieldError>) {
    keys(object, "data", errors);
    keys(object, "binaryData", errors);
    for key in names(object, "data") {
        if names(object, "binaryData").any(|other| other == key) {
            let at = FieldPath::new("data").key(key);
            let detail = "duplicate of key present in binaryData";
            errors.push(FieldError::invalid(&at, &json!(key), detail));
        }
    }
    if is_large(texts(object, "data").map(str::len).sum::<usize>() + bytes(object, "binaryData")) {
        // Of all fields: as the real server writes a path without a name.
        errors.push(FieldError::too_long(&FieldPath::new("[]"), SIZE_LIMIT));
    }
}

/// Keys and size of a secret, and those that its type demands.
pub(super) fn secret(object: &Value, errors: &mut Vec<FieldError>) {
    keys(object, "data", errors);
    if is_large(bytes(object, "data")) {
        errors.push(FieldError::too_long(&FieldPath::new("data"), SIZE_LIMIT));
    }
    let demanded: &[&str] = match path::text(object, "type") {
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        _ => &[],
    };
    for key in demanded {
        if !names(object, "data").any(|name| name == key) {
            errors.push(FieldError::required(&FieldPath::new("data").key(key), ""));
        }
    }
}

fn names<'a>(object: &'a Value, field: &str) -> impl Iterator<Item = &'a String> + use<'a> {
    object.get(field).and_then(Value::as_object).into_iter().flat_map(|map| map.keys())
}

fn texts<'a>(object: &'a Value, field: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    let map = object.get(field).and_then(Value::as_object);
    map.into_iter().flat_map(|map| map.values()).filter_map(Value::as_str)
}

fn is_large(size: usize) -> bool {
    u64::try_from(size).is_ok_and(|size| size > SIZE_LIMIT)
}

/// How much is behind Base64.
fn bytes(object: &Value, field: &str) -> usize {
    let decoded = |text: &str| text.trim_end_matches('=').len() * 3 / 4;
    texts(object, field).map(decoded).sum()
}

fn keys(object: &Value, field: &str, errors: &mut Vec<FieldError>) {
    for key in names(object, field) {
        let at = FieldPath::new(field).key(key);
        for detail in key_errors(key) {
            errors.push(FieldError::invalid(&at, &json!(key), detail));
        }
    }
}

/// What is wrong with a key of a config map or secret.
pub(super) fn key_errors(key: &str) -> Vec<&'static str> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let checks = [
        (key.len() > 253, "must be no more than 253 characters"),
        (
            key.is_empty() || !key.chars().all(is_allowed),
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. \
             'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is \
             '[-._a-zA-Z0-9]+')",
        ),
        (key == ".", "must not be '.'"),
        (key == "..", "must not be '..'"),
        (key.starts_with("..") && key != "..", "must not start with '..'"),
    ];
    checks.into_iter().filter(|(wrong, _)| *wrong).map(|(_, detail)| detail).collect()
}
