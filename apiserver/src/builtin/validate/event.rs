//! Events of `events.k8s.io`; those of the core group are hardly validated.

use serde_json::{Value, json};

use crate::{
    builtin::path,
    schema::{FieldError, FieldPath, name_rule},
};

/// Reporter, time, reason and action are required.
pub(super) fn event(event: &Value, errors: &mut Vec<FieldError>) {
    let required = |field: &str| FieldError::required(&FieldPath::new(field), "");
    if path::get(event, "eventTime").is_none() {
        errors.push(required("eventTime"));
    }
    let controller = path::text(event, "reportingController");
    if controller.is_empty() {
        errors.push(required("reportingController"));
    }
    let at = FieldPath::new("reportingController");
    for detail in name_rule::label_key(controller) {
        errors.push(FieldError::invalid(&at, &json!(controller), detail));
    }
    for field in ["reportingInstance", "action", "reason"] {
        if path::text(event, field).is_empty() {
            errors.push(required(field));
        }
    }
    let kind = path::text(event, "type");
    if kind != "Normal" && kind != "Warning" {
        let detail = format!("has invalid value: {kind}");
        errors.push(FieldError::invalid(&FieldPath::new("type"), &json!(""), detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_a_reporter_a_reason_and_a_time() {
        let good = json!({
            "eventTime": "2024-05-01T10:00:00.000000Z", "reportingController": "echo.example.com",
            "reportingInstance": "i-1", "action": "Syncing", "reason": "Synced", "type": "Normal"
        });
        let table = [
            ("action", "action: Required value"),
            ("eventTime", "eventTime: Required value"),
            ("reason", "reason: Required value"),
            ("reportingInstance", "reportingInstance: Required value"),
            ("type", "type: Invalid value: \"\": has invalid value: "),
        ];
        for (missing, complaint) in table {
            let mut bad = good.clone();
            path::remove(&mut bad, missing);
            let mut errors = Vec::new();
            event(&bad, &mut errors);
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(lines, [complaint]);
        }
    }
}
