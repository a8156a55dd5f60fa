//! Conditions of objects: reading them, and setting them so that their times follow the rules.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::object::{items, text};
use crate::clock::seconds;

/// A condition to be set: type, status, reason, message.
pub(super) type Condition<'a> = (&'a str, &'a str, &'a str, &'a str);

/// A condition of a status.
pub(super) fn find<'a>(status: &'a Value, kind: &str) -> Option<&'a Value> {
    items(&status["conditions"]).find(|condition| condition["type"] == kind)
}

/// Whether a condition is `True`.
pub(super) fn is_true(status: &Value, kind: &str) -> bool {
    find(status, kind).is_some_and(|condition| condition["status"] == "True")
}

/// Sets a condition. Its time of transition changes with its status, further times (such as `lastUpdateTime`)
/// with its status or reason.
pub(super) fn set(
    status: &mut Value,
    (kind, value, reason, message): Condition<'_>,
    further: &[&str],
    now: Timestamp,
) {
    let previous = find(status, kind).cloned().unwrap_or_default();
    let mut next = json!({ "type": kind, "status": value });
    for (field, content) in [("reason", reason), ("message", message)] {
        if !content.is_empty() {
            next[field] = json!(content);
        }
    }
    let kept = |field: &str, stays: bool| match previous.get(field) {
        Some(time) if stays => time.clone(),
        _ => json!(seconds(now)),
    };
    let same_status = previous["status"] == value;
    next["lastTransitionTime"] = kept("lastTransitionTime", same_status);
    let same_reason = same_status && text(&previous["reason"]) == reason;
    for field in further {
        next[*field] = kept(field, same_reason);
    }
    replace(status, kind, next);
}

/// Removes a condition.
pub(super) fn remove(status: &mut Value, kind: &str) {
    if let Some(conditions) = status.get_mut("conditions").and_then(Value::as_array_mut) {
        conditions.retain(|condition| condition["type"] != kind);
    }
}

fn replace(status: &mut Value, kind: &str, next: Value) {
    if !status["conditions"].is_array() {
        status["conditions"] = json!([]);
    }
    let Some(conditions) = status["conditions"].as_array_mut() else { return };
    match conditions.iter_mut().find(|condition| condition["type"] == kind) {
        Some(condition) => *condition = next,
        None => conditions.push(next),
    }
}
