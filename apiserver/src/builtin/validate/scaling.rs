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
        number::amount(spec, field, at, errors);
        number::at_most_all(spec, field, at, errors);
    }
}
