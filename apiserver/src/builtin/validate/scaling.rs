//! Autoscalers and disruption budgets.

use serde_json::{Value, json};

use super::{number, selector};
use crate::{
    builtin::path,
    schema::{FieldError, FieldPath},
};

/// The bounds of an autoscaler.
pub(super) fn autoscaler(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let most = path::number(spec, "maxReplicas").unwrap_or_default();
    if most < 1 {
        let detail = "must be set and greater than 0";
        errors.push(FieldError::required(&at.child("maxReplicas"), detail));
    }
    if path::number(spec, "minReplicas").is_some_and(|least| most < least) {
        let detail = "must be greater than or equal to `minReplicas`";
        errors.push(FieldError::invalid(&at.child("maxReplicas"), &json!(most), detail));
    }
    if path::text(spec, "scaleTargetRef.apiVersion").is_empty() {
        let at = at.child("scaleTargetRef").child("apiVersion");
        let detail = "apiVersion must specify API group";
        errors.push(FieldError::invalid(&at, &json!(""), detail));
    }
}

/// A disruption budget has one bound.
pub(super) fn disruption_budget(spec: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let (least, most) = (path::get(spec, "minAvailable"), path::get(spec, "maxUnavailable"));
    if let (Some(least), Some(most)) = (least, most) {
        let print = crate::schema::go_value::print;
        let policy = path::get(spec, "unhealthyPodEvictionPolicy").unwrap_or(&Value::Null);
        let value = format!(
            r#"{{"MinAvailable":{},"Selector":{},"MaxUnavailable":{},"UnhealthyPodEvictionPolicy":{}}}"#,
            print(least),
            path::get(spec, "selector").map_or_else(|| "null".to_owned(), selector::print),
            print(most),
            print(policy)
        );
        let detail = "minAvailable and maxUnavailable cannot be both set";
        let error = FieldError::invalid(at, &Value::Null, detail);
        errors.push(FieldError { value: Some(value), ..error });
    }
    for field in ["minAvailable", "maxUnavailable"] {
        number::not_negative(spec, field, at, errors);
        percentage(spec, field, at, errors);
    }
}

fn percentage(spec: &Value, field: &str, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let Some(text) = spec.get(field).and_then(Value::as_str) else { return };
    let digits = text.strip_suffix('%').unwrap_or_default();
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        let detail = "a valid percent string must be a numeric string followed by an ending '%' \
                      (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
        errors.push(FieldError::invalid(&at.child(field), &json!(text), detail));
    }
}
