//! When `metadata.generation` of custom resources and definitions grows: with every change outside
//! metadata and status. Built-in types have their own rules.

use serde_json::{Value, json};

use crate::resource::{Origin, Resource};

/// Gives `next` the generation that follows from how it differs from `live`.
pub(super) fn carry_over(resource: &Resource, live: &Value, next: &mut Value) {
    if matches!(resource.origin, Origin::BuiltIn(_)) {
        return;
    }
    let generation = live["metadata"]["generation"].as_i64().unwrap_or_default();
    let changed = intent_differs(resource, live, next);
    next["metadata"]["generation"] = json!(generation + i64::from(changed));
}

fn intent_differs(resource: &Resource, live: &Value, next: &Value) -> bool {
    let counts = |field: &str| match field {
        "metadata" | "apiVersion" | "kind" => false,
        "status" => !resource.has_status,
        _ => true,
    };
    let same = |one: &Value, other: &Value| {
        let fields = one.as_object().into_iter().flatten();
        fields.filter(|(field, _)| counts(field)).all(|(field, v)| other.get(field) == Some(v))
    };
    !(same(live, next) && same(next, live))
}
