//! Shared by the validation of new and changed metadata: labels, annotations, and lists in messages.

use serde_json::{Map, Value};

use crate::schema::{FieldError, FieldPath, go_value, name_rule};

const ANNOTATIONS_LIMIT: u64 = 256 * 1024;

/// The errors of a map of labels.
pub(in crate::schema) fn label_errors(
    labels: Option<&Map<String, Value>>,
    path: &FieldPath,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (key, value) in labels.into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        errors.extend(invalid(path, key, name_rule::label_key(key)));
        errors.extend(invalid(path, value, name_rule::label_value(value)));
    }
    errors
}

/// Keys are like those of labels, but their case does not matter.
pub(super) fn annotation_errors(
    annotations: Option<&Map<String, Value>>,
    path: &FieldPath,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut size = 0;
    for (key, value) in annotations.into_iter().flatten() {
        errors.extend(invalid(path, key, name_rule::label_key(&key.to_lowercase())));
        size += key.len() + value.as_str().unwrap_or_default().len();
    }
    if size as u64 > ANNOTATIONS_LIMIT {
        errors.push(FieldError::too_long(path, ANNOTATIONS_LIMIT));
    }
    errors
}

pub(super) fn invalid(path: &FieldPath, value: &str, details: Vec<String>) -> Vec<FieldError> {
    let value = Value::from(value);
    details.into_iter().map(|detail| FieldError::invalid(path, &value, detail)).collect()
}

pub(super) fn go_list(texts: &[&str]) -> String {
    let texts: Vec<_> = texts.iter().map(|text| go_value::quote(text)).collect();
    format!("[]string{{{}}}", texts.join(", "))
}
