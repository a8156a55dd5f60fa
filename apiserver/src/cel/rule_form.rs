//! Whether a rule is complete, before it is compiled.

use serde_json::Value;

use super::{field_path, rule::Rule};
use crate::schema::{FieldError, FieldPath, Schema};

const REASONS: [&str; 4] =
    ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
/// The keyword of the rules of a schema.
pub(super) const KEYWORD: &str = "x-kubernetes-validations";

/// The rules of a schema.
pub(super) fn rules(open_api: &Value) -> impl Iterator<Item = &Value> {
    open_api[KEYWORD].as_array().into_iter().flatten()
}

/// The errors of the rules of one schema.
pub(super) fn errors(open_api: &Value, path: &FieldPath) -> Vec<FieldError> {
    let numbered = rules(open_api).enumerate();
    let errors = numbered.flat_map(|(at, rule)| {
        form_errors(&Rule::of(rule), open_api, &path.child(KEYWORD).index(at))
    });
    errors.collect()
}

fn form_errors(rule: &Rule, open_api: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let breaks = |text: &str| text.contains(['\n', '\r']);
    let (text, message) = (rule.source.trim(), rule.message.trim());
    let at_message = path.child("message");
    let written = Value::from(rule.message.as_str());
    if text.is_empty() {
        errors.push(FieldError::required(&path.child("rule"), "rule is not specified"));
    } else if !rule.message.is_empty() && message.is_empty() {
        errors.push(FieldError::invalid(&at_message, &written, "must be non-empty if specified"));
    } else if breaks(message) {
        errors.push(FieldError::invalid(&at_message, &written, "must not contain line breaks"));
    } else if breaks(text) && message.is_empty() {
        let detail = "message must be specified if rule contains line breaks";
        errors.push(FieldError::required(&at_message, detail));
    }
    if !rule.message_expression.is_empty() && rule.message_expression.trim().is_empty() {
        let detail = "messageExpression must be non-empty if specified";
        errors.push(FieldError::required(&path.child("messageExpression"), detail));
    }
    if let Some(reason) = rule.reason.as_deref().filter(|reason| !REASONS.contains(reason)) {
        errors.push(FieldError::not_supported(&path.child("reason"), &reason.into(), REASONS));
    }
    errors.extend(field_path_errors(rule, open_api, &path.child("fieldPath")));
    errors
}

fn field_path_errors(rule: &Rule, open_api: &Value, path: &FieldPath) -> Vec<FieldError> {
    let text = rule.field_path.as_str();
    if text.is_empty() {
        return Vec::new();
    }
    let is_valid = field_path::normalise(text, &Schema::from_open_api(open_api)).is_ok();
    [
        (text.trim().is_empty(), "must be non-empty if specified"),
        (text.contains(['\n', '\r']), "must not contain line breaks"),
        (!is_valid, "must be a valid path"),
    ]
    .into_iter()
    .filter(|(is_wrong, _)| *is_wrong)
    .map(|(_, detail)| FieldError::invalid(path, &text.into(), detail))
    .collect()
}
