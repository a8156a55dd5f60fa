//! Events of `events.k8s.io`; those of the core group are only checked as old clients expect.

use super::{
    field::{Errors, Field},
    immutable, shown,
};
use crate::schema::{FieldError, FieldPath, go_value::quote};

/// A new event of `events.k8s.io`.
pub(super) fn create(event: &Field, errors: &mut Errors) {
    reported(event, "reportingController", "note", errors);
    if let Some(series) = event.given("series") {
        self::series(&series, errors);
    }
    event.child("eventTime").is_required("", errors);
    let kind = event.string("type");
    if !matches!(kind.text(), "Normal" | "Warning") {
        errors.push(kind.invalid_as(quote(""), format!("has invalid value: {}", kind.text())));
    }
    for (field, shown) in [
        ("deprecatedFirstTimestamp", "firstTimestamp"),
        ("deprecatedLastTimestamp", "lastTimestamp"),
        ("deprecatedCount", "count"),
        ("deprecatedSource", "source"),
    ] {
        let given = event.child(field);
        if !given.is_empty() && given.value() != 0 {
            let given = given.named(FieldPath::new(shown));
            errors.push(given.invalid_as(quote(""), "needs to be unset"));
        }
    }
}

/// A new event of the core group.
pub(super) fn legacy(event: &Field, errors: &mut Errors) {
    reported(event, "reportingComponent", "message", errors);
}

/// Nothing of an event of `events.k8s.io` changes but its series.
pub(super) fn update(new: &Field, old: &Field, errors: &mut Errors) {
    reported(new, "reportingController", "note", errors);
    let series = new.child("series");
    if series.is_given() && series.value() != old.child("series").value() {
        self::series(&series, errors);
    }
    for (field, shown, of) in [
        ("regarding", "involvedObject", Some("core.ObjectReference")),
        ("reason", "reason", None),
        ("note", "message", None),
        ("deprecatedSource", "source", Some("core.EventSource")),
        ("deprecatedFirstTimestamp", "firstTimestamp", None),
        ("deprecatedLastTimestamp", "lastTimestamp", None),
        ("deprecatedCount", "count", None),
        ("reason", "reason", None),
        ("type", "type", None),
        ("eventTime", "eventTime", None),
        ("action", "action", None),
        ("related", "related", Some("core.ObjectReference")),
        ("reportingController", "reportingController", None),
        ("reportingInstance", "reportingInstance", None),
    ] {
        let (after, before) = (new.child(field), old.child(field));
        if after.value() == before.value() {
            continue;
        }
        let after = after.named(FieldPath::new(shown));
        let print = match of {
            Some(of) if after.is_given() => shown::go(of, after.value()),
            None if after.value().is_null() && !field.contains("ime") => {
                if field == "deprecatedCount" { "0".to_owned() } else { quote("") }
            }
            _ => crate::schema::go_value::print(after.value()),
        };
        errors.push(after.invalid_as(print, immutable::DETAIL));
    }
}

/// What an event of today has: a time, and who reported what.
fn reported(event: &Field, controller: &str, note: &str, errors: &mut Errors) {
    if event.given("eventTime").is_none() {
        return;
    }
    let reporter = event.string(controller).named(FieldPath::new(controller));
    reporter.is_required("", errors);
    reporter.is_qualified(errors);
    for (field, limit) in [("reportingInstance", 128), ("action", 128), ("reason", 128)] {
        let text = event.string(field);
        text.is_required("", errors);
        too_long(&text, limit, errors);
    }
    too_long(&event.string(note).named(FieldPath::new("message")), 1024, errors);
}

fn too_long(text: &Field, limit: usize, errors: &mut Errors) {
    if text.text().len() > limit {
        let detail = format!("can have at most {limit} characters");
        errors.push(text.invalid_as(quote(""), detail));
    }
}

fn series(series: &Field, errors: &mut Errors) {
    let count = series.integer("count");
    if count.number() < 2 {
        errors.push(count.invalid_as(quote(""), "should be at least 2"));
    }
    if series.given("lastObservedTime").is_none() {
        errors.push(FieldError::required(&FieldPath::new("series.lastObservedTime"), ""));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::builtin::path;

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
            let mut errors = Errors::new();
            create(&Field::root(&bad), &mut errors);
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(lines, [complaint]);
        }
    }
}
