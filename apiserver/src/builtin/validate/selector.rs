//! Label selectors: whether one is well formed, and whether it matches.

use serde_json::{Map, Value, json};

use crate::{
    builtin::path,
    schema::{FieldError, FieldPath, go_value, name_rule},
};

/// Refuses operators that do not exist and values that do not fit them.
pub(super) fn check(selector: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    labels(selector.get("matchLabels"), &at.child("matchLabels"), errors);
    for (index, expression) in path::list(selector, "matchExpressions").iter().enumerate() {
        expression_rules(expression, &at.child("matchExpressions").index(index), errors);
    }
}

/// A selector as messages show it: in the order of its Go struct.
pub(super) fn print(selector: &Value) -> String {
    let field = |name: &str| {
        let value = selector.get(name)?;
        Some(format!("{}:{}", go_value::quote(name), go_value::print(value)))
    };
    let fields: Vec<String> =
        ["matchLabels", "matchExpressions"].into_iter().filter_map(field).collect();
    format!("{{{}}}", fields.join(","))
}

/// Refuses keys and values that no label can have.
pub(super) fn labels(labels: Option<&Value>, at: &FieldPath, errors: &mut Vec<FieldError>) {
    for (key, value) in labels.and_then(Value::as_object).into_iter().flatten() {
        for detail in name_rule::label_key(key) {
            errors.push(FieldError::invalid(at, &json!(key), detail));
        }
        for detail in name_rule::label_value(value.as_str().unwrap_or_default()) {
            errors.push(FieldError::invalid(at, value, detail));
        }
    }
}

/// Whether labels match a selector; an empty selector matches everything.
pub(crate) fn matches(selector: &Value, labels: &Map<String, Value>) -> bool {
    let wanted = path::get(selector, "matchLabels").and_then(Value::as_object);
    let all_equal = wanted.into_iter().flatten().all(|(key, value)| labels.get(key) == Some(value));
    all_equal
        && path::list(selector, "matchExpressions").iter().all(|expression| {
            let value = labels.get(path::text(expression, "key"));
            let listed = value.is_some_and(|v| path::list(expression, "values").contains(v));
            match path::text(expression, "operator") {
                "In" => listed,
                "NotIn" => !listed,
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => false,
            }
        })
}

fn expression_rules(expression: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let has_values = !path::list(expression, "values").is_empty();
    match path::text(expression, "operator") {
        "In" | "NotIn" if !has_values => {
            let detail = "must be specified when `operator` is 'In' or 'NotIn'";
            errors.push(FieldError::required(&at.child("values"), detail));
        }
        "Exists" | "DoesNotExist" if has_values => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.push(FieldError::forbidden(&at.child("values"), detail));
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        _ => {
            let operator = expression.get("operator").unwrap_or(&Value::Null);
            let detail = "not a valid selector operator";
            errors.push(FieldError::invalid(&at.child("operator"), operator, detail));
        }
    }
    let key = path::text(expression, "key");
    for detail in name_rule::label_key(key) {
        errors.push(FieldError::invalid(&at.child("key"), &json!(key), detail));
    }
    for (index, value) in path::list(expression, "values").iter().enumerate() {
        for detail in name_rule::label_value(value.as_str().unwrap_or_default()) {
            let at = at.child("values").index(index);
            errors.push(FieldError::invalid(&at, value, detail));
        }
    }
}
