//! Config maps and secrets: keys, and what a type of secret must hold.

use base64::{Engine, prelude::BASE64_STANDARD};

use super::{
    field::{Errors, Field},
    immutable, json_text,
};
use crate::schema::{FieldError, FieldPath, go_value::quote, name_rule};

/// What a config map or a secret may hold, in bytes.
const SIZE_LIMIT: u64 = 1 << 20;

/// What annotations may hold, in bytes.
const ANNOTATIONS_LIMIT: u64 = 256 << 10;

/// Keys and size of both maps of a config map.
pub(super) fn config_map(object: &Field, errors: &mut Errors) {
    let (texts, binary) = (object.child("data"), object.child("binaryData"));
    for (key, text) in texts.entries() {
        check_key(key, text.at(), errors);
        if binary.given(key).is_some() {
            let detail = "duplicate of key present in binaryData";
            errors.push(FieldError::invalid(text.at(), &key.into(), detail));
        }
    }
    for (key, bytes) in binary.entries() {
        check_key(key, bytes.at(), errors);
    }
    let texts: usize = texts.entries().iter().map(|(_, text)| text.text().len()).sum();
    if is_large(texts + size(&binary)) {
        // Of all fields: as the real server writes a path without a name.
        errors.push(FieldError::too_long(&FieldPath::new("[]"), SIZE_LIMIT));
    }
}

/// Keys and size of a secret, and those that its type demands.
pub(super) fn secret(object: &Field, errors: &mut Errors) {
    let data = object.child("data");
    for (key, bytes) in data.entries() {
        check_key(key, bytes.at(), errors);
    }
    if is_large(size(&data)) {
        errors.push(data.too_long(SIZE_LIMIT));
    }
    let required = |key: &str| FieldError::required(&data.at().key(key), "");
    let demanded = |key: &str, errors: &mut Errors| {
        if data.given(key).is_none() {
            errors.push(required(key));
        }
    };
    match object.string("type").text() {
        "kubernetes.io/service-account-token" => {
            const ACCOUNT: &str = "kubernetes.io/service-account.name";
            let annotations = object.child("metadata").child("annotations");
            if annotations.string(ACCOUNT).is_empty() {
                errors.push(FieldError::required(&annotations.at().key(ACCOUNT), ""));
            }
        }
        "kubernetes.io/dockercfg" => json_content(&data, ".dockercfg", errors),
        "kubernetes.io/dockerconfigjson" => json_content(&data, ".dockerconfigjson", errors),
        "kubernetes.io/basic-auth"
            if data.given("username").is_none() && data.given("password").is_none() =>
        {
            errors.extend(["username", "password"].map(required));
        }
        "kubernetes.io/ssh-auth" if data.string("ssh-privatekey").is_empty() => {
            errors.push(required("ssh-privatekey"));
        }
        "kubernetes.io/tls" => {
            demanded("tls.crt", errors);
            demanded("tls.key", errors);
        }
        _ => {}
    }
}

/// The successor of a config map.
pub(super) fn config_map_update(new: &Field, old: &Field, errors: &mut Errors) {
    frozen(new, old, &["data", "binaryData"], errors);
    config_map(new, errors);
}

/// The successor of a secret, whose type never changes.
pub(super) fn secret_update(new: &Field, old: &Field, errors: &mut Errors) {
    immutable::field(new, old, "type", errors);
    frozen(new, old, &["data"], errors);
    secret(new, errors);
}

/// Keys and size of annotations. All are reported at the map.
pub(super) fn annotations(annotations: &Field, errors: &mut Errors) {
    let mut total = 0;
    for (key, value) in annotations.entries() {
        for detail in name_rule::label_key(&key.to_lowercase()) {
            errors.push(FieldError::invalid(annotations.at(), &key.into(), detail));
        }
        total += key.len() + value.text().len();
    }
    if u64::try_from(total).is_ok_and(|total| total > ANNOTATIONS_LIMIT) {
        errors.push(annotations.too_long(ANNOTATIONS_LIMIT));
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

fn check_key(key: &str, at: &FieldPath, errors: &mut Errors) {
    for detail in key_errors(key) {
        errors.push(FieldError::invalid(at, &key.into(), detail));
    }
}

/// Credentials are JSON; what they are is not shown.
fn json_content(data: &Field, key: &str, errors: &mut Errors) {
    let at = data.at().key(key);
    let Some(content) = data.given(key) else {
        errors.push(FieldError::required(&at, ""));
        return;
    };
    let bytes = BASE64_STANDARD.decode(content.text()).unwrap_or_default();
    if let Err(why) = json_text::object(&bytes) {
        let shown = quote("<secret contents redacted>");
        errors.push(content.named(at).invalid_as(shown, why));
    }
}

fn frozen(new: &Field, old: &Field, fields: &[&str], errors: &mut Errors) {
    if !old.child("immutable").flag() {
        return;
    }
    let detail = "field is immutable when `immutable` is set";
    if !new.child("immutable").flag() {
        errors.push(new.child("immutable").forbidden(detail));
    }
    for field in fields.iter().filter(|field| new.child(field).value() != old.child(field).value())
    {
        errors.push(new.child(field).forbidden(detail));
    }
}

fn is_large(size: usize) -> bool {
    u64::try_from(size).is_ok_and(|size| size > SIZE_LIMIT)
}

/// How much is behind Base64.
fn size(map: &Field) -> usize {
    let decoded = |text: &str| text.trim_end_matches('=').len() * 3 / 4;
    map.entries().iter().map(|(_, text)| decoded(text.text())).sum()
}
