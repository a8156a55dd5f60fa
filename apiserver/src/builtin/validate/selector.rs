//! Label selectors: whether one is well formed, and whether it matches.

use serde_json::{Map, Value};

use super::field::{Errors, Field};
use crate::{
    builtin::path,
    schema::{FieldError, go_value, name_rule},
};

/// Refuses operators that do not exist and values that do not fit them.
pub(super) fn check(selector: &Field, errors: &mut Errors) {
    labels(&selector.child("matchLabels"), errors);
    for expression in selector.child("matchExpressions").items() {
        requirement(&expression, errors);
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

/// Refuses keys and values that no label can have. All are reported at the map.
pub(super) fn labels(labels: &Field, errors: &mut Errors) {
    for (key, value) in labels.entries() {
        for detail in name_rule::label_key(key) {
            errors.push(FieldError::invalid(labels.at(), &key.into(), detail));
        }
        for detail in name_rule::label_value(value.text()) {
            errors.push(FieldError::invalid(labels.at(), value.value(), detail));
        }
    }
}

/// Whether a selector selects everything.
pub(super) fn is_empty(selector: &Value) -> bool {
    let labels = path::get(selector, "matchLabels").and_then(Value::as_object);
    labels.is_none_or(Map::is_empty) && path::list(selector, "matchExpressions").is_empty()
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

fn requirement(expression: &Field, errors: &mut Errors) {
    let values = expression.child("values");
    let operator = expression.string("operator");
    match operator.text() {
        "In" | "NotIn" if values.is_empty() => {
            let detail = "must be specified when `operator` is 'In' or 'NotIn'";
            errors.push(values.required(detail));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.push(values.forbidden(detail));
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        _ => errors.push(operator.invalid("not a valid selector operator")),
    }
    expression.string("key").is_qualified(errors);
    for value in values.items() {
        let details = name_rule::label_value(value.text());
        errors.extend(details.into_iter().map(|detail| value.invalid(detail)));
    }
}
