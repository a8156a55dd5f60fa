//! A status that other controllers write too: the existing status with the handler's fields over
//! it.
//!
//! - Nothing is removed, and nothing is added that the handler does not return, except the time of
//!   its own conditions.
//! - A value that the handler returns unchanged is not written: a handler may return the status that it
//!   read, and other managers may have changed the value since.
//! - A list is replaced as a whole, unless its items contain all that the handler wants of them:
//!   the server fills in more.

use serde_json::{Map, Value};

use super::{StatusInput, conditions};
use crate::object::Object;

/// The status that should be; `fields` are those of the handler, `seen` is the status that it read.
pub(super) fn desired(
    input: StatusInput<'_>,
    seen: &Map<String, Value>,
    present: &Map<String, Value>,
    mut fields: Map<String, Value>,
) -> Map<String, Value> {
    let mut status = present.clone();
    if input.schema.admits_list(conditions::FIELD)
        && let Some(returned) = fields.remove(conditions::FIELD)
    {
        // Anything but a list would replace the conditions of others.
        let returned = returned.as_array().cloned().unwrap_or_default();
        overlay_conditions(input, seen, returned, &mut status);
    }
    overlay(input, seen, fields, &mut status);
    status
}

fn overlay(
    input: StatusInput<'_>,
    seen: &Map<String, Value>,
    fields: Map<String, Value>,
    over: &mut Map<String, Value>,
) {
    for (name, value) in fields {
        let before = seen.get(&name);
        if before.is_some_and(|before| contains(before, &value)) {
            continue;
        }
        match (over.get_mut(&name), value) {
            (Some(Value::Object(over)), Value::Object(fields)) => {
                let nothing = Map::new();
                let before = before.and_then(Value::as_object).unwrap_or(&nothing);
                overlay(input, before, fields, over);
            }
            (Some(present), value) if contains(present, &value) => {}
            (None, value) if is_dropped(input, &value) => {}
            (_, value) => drop(over.insert(name, value)),
        }
    }
}

fn overlay_conditions(
    input: StatusInput<'_>,
    seen: &Map<String, Value>,
    returned: Vec<Value>,
    status: &mut Map<String, Value>,
) {
    let list = |status: &Map<String, Value>| {
        status.get(conditions::FIELD).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let (seen, mut merged) = (list(seen), list(status));
    for mut condition in returned.into_iter().filter_map(object) {
        // The handler's time is ignored: it would change with every reconcile.
        condition.remove(conditions::TIME);
        let is_it = |other: &Value| other.get("type") == condition.get("type");
        let before = seen.iter().find(|other| is_it(other));
        if before.is_some_and(|before| contains_condition(before, &condition)) {
            continue;
        }
        match merged.iter_mut().find(|other| is_it(other)) {
            Some(present) if contains_condition(present, &condition) => {}
            Some(Value::Object(present)) => change(input, condition, present),
            Some(_) | None => merged.push(new(input, condition)),
        }
    }
    if !merged.is_empty() {
        status.insert(conditions::FIELD.to_owned(), Value::from(merged));
    }
}

/// Whether a condition has all fields of another. A handler that reads one without a reason returns
/// an empty one.
fn contains_condition(present: &Value, condition: &Map<String, Value>) -> bool {
    let is_there = |(name, wanted): (&String, &Value)| {
        present.get(name).map_or(*wanted == "", |present| contains(present, wanted))
    };
    condition.iter().all(is_there)
}

fn change(input: StatusInput<'_>, condition: Map<String, Value>, present: &mut Map<String, Value>) {
    let status = present.get("status").cloned();
    overlay(input, &Map::new(), condition, present);
    if present.get("status") != status.as_ref() && conditions::have_times(input) {
        present.insert(conditions::TIME.to_owned(), Value::from(input.now));
    }
}

fn new(input: StatusInput<'_>, mut condition: Map<String, Value>) -> Value {
    if conditions::have_times(input) {
        condition.insert(conditions::TIME.to_owned(), Value::from(input.now));
    }
    Value::Object(condition)
}

/// Whether others have changed a list that the handler wants otherwise, since the handler read it:
/// a list is replaced as a whole, so the handler has to decide again.
pub(crate) fn is_list_outdated(handler: &Value, seen: &Object, now: &Object) -> bool {
    let status = |parent: &Object| parent.field("status").unwrap_or_default();
    let (seen, now) = (status(seen), status(now));
    let mut fields = handler.as_object().cloned().unwrap_or_default();
    // They merge by type.
    fields.remove(conditions::FIELD);
    is_outdated(&Value::Object(fields), &seen, &now)
}

fn is_outdated(wanted: &Value, seen: &Value, now: &Value) -> bool {
    match wanted {
        Value::Object(fields) => {
            fields.iter().any(|(name, wanted)| is_outdated(wanted, &seen[name], &now[name]))
        }
        Value::Array(_) => seen != now && !contains(seen, wanted),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Whether a value contains all that is wanted.
fn contains(present: &Value, wanted: &Value) -> bool {
    match (present, wanted) {
        (Value::Object(present), Value::Object(wanted)) => wanted.iter().all(|(name, wanted)| {
            present.get(name).is_some_and(|present| contains(present, wanted))
        }),
        (Value::Array(present), Value::Array(wanted)) => {
            present.len() == wanted.len()
                && present.iter().zip(wanted).all(|(present, wanted)| contains(present, wanted))
        }
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        _ => present == wanted,
    }
}

/// Whether the server drops such a value: it would be written for ever. A custom resource is kept
/// as it is sent.
fn is_dropped(input: StatusInput<'_>, value: &Value) -> bool {
    let is_empty = match value {
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    };
    is_empty && input.parent.ty().is_builtin()
}

fn object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(fields) => Some(fields),
        _ => None,
    }
}
