//! The conditions of a definition.

use serde_json::{Value, json};

/// Whether a condition is true.
pub(crate) fn is_true(object: &Value, kind: &str) -> bool {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|c| c["type"] == kind && c["status"] == "True")
}

/// Sets a condition: its type, status, reason and message. Its time is that of the last change of the status.
pub(crate) fn set(object: &mut Value, now: &str, [kind, status, reason, message]: [&str; 4]) {
    let mut condition = json!({
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": now,
    });
    let conditions = &mut object["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(conditions) = conditions.as_array_mut() else { return };
    match conditions.iter_mut().find(|c| c["type"] == kind) {
        Some(found) => {
            if found["status"] == status && !found["lastTransitionTime"].is_null() {
                condition["lastTransitionTime"] = found["lastTransitionTime"].take();
            }
            for field in ["status", "reason", "message", "lastTransitionTime"] {
                found[field] = condition[field].take();
            }
        }
        None => conditions.push(condition),
    }
}
