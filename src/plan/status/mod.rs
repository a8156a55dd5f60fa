//! The status of a parent, as a JSON merge patch against the cached object; `None` when it is up to
//! date. Knows no handler and no server; the schema comes in as a value.
//!
//! - The handler's fields replace all fields but the conditions; fields that it no longer returns
//!   are removed. Without a status from the handler they all stay.
//! - Conditions merge by type; some types belong to the framework alone. `lastTransitionTime` moves
//!   only with `status`.
//! - The list of children belongs to the framework, where it is configured.
//! - Where several operators answer for a parent each writes and removes only its own fields.
//! - A status that others write too keeps all that is in it, and the framework adds nothing.
//! - What the parent's schema does not declare is not sent, and is reported.

mod beside;
mod children;
mod conditions;
mod input;
mod merge;
mod owners;
mod shared;
mod undeclared;

use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
};

use serde_json::{Map, Value, json};

use crate::{
    diff::{
        hash,
        nulls::drop_nulls,
        path::{MAX_PATHS, Path, Segment},
    },
    object::Object,
    operator::Condition,
    plan::HeldField,
};

pub(crate) use input::{ChildrenField, StatusInput};
pub(crate) use owners::Beside;
pub(crate) use shared::is_list_outdated;
pub(crate) use undeclared::{UndeclaredField, WantedBy};

/// What to write. `Debug` does not show the status.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct StatusPatch {
    /// The JSON merge patch for the status subresource; `None` when nothing differs.
    pub(crate) body: Option<Value>,
    /// The fields that are not sent because the schema lacks them.
    pub(crate) undeclared: Vec<UndeclaredField>,
    /// Whether the handler returned a value of its own in the field that lists the children.
    pub(crate) overruled: bool,
    /// Whether the handler returned a condition of its own with a type of the framework.
    pub(crate) overruled_condition: bool,
    /// The fields that are not sent because other operators own them with other values.
    pub(crate) held: Vec<HeldField>,
}

pub(crate) fn status_patch(input: StatusInput<'_>) -> StatusPatch {
    let present = status_of(input.parent);
    let mut patch = StatusPatch::default();
    let mut desired = desired(input, &present, &mut patch);
    if let Some(beside) = input.beside {
        patch.held = beside::yield_to(beside, &present, &mut desired);
    }
    let difference = merge::difference(&present, &desired, input.schema.declared());
    patch.body = difference.map(|status| {
        let version = input.parent.resource_version().to_string();
        json!({"metadata": {"resourceVersion": version}, "status": status})
    });
    patch
}

fn desired(
    input: StatusInput<'_>,
    present: &Map<String, Value>,
    patch: &mut StatusPatch,
) -> Map<String, Value> {
    let returned = input.handler.and_then(Value::as_object).map(|fields| {
        let mut fields = fields.clone();
        patch.overruled = children::overrule(input, present, &mut fields);
        patch.overruled_condition = conditions::overruled(input, present, &fields);
        fields_of_handler(input, fields, &mut patch.undeclared)
    });
    if input.schema.is_none() {
        // No one can declare them in a type of Kubernetes.
        if input.shared.is_none() && input.parent.ty().may_be_custom() {
            conditions::merge(input, present, &mut Map::new(), &mut patch.undeclared);
        }
        return present.clone();
    }
    if let Some(seen) = input.shared {
        return shared::desired(input, &status_of(seen), present, returned.unwrap_or_default());
    }
    let mut status = match (returned, input.beside) {
        (Some(returned), Some(beside)) => beside::desired(beside, present, returned),
        (Some(returned), None) => returned,
        (None, _) => without_conditions(present),
    };
    if input.beside.is_none() {
        observe_generation(input, present, &mut status);
    }
    children::show(input, present, &mut status, &mut patch.undeclared);
    conditions::merge(input, present, &mut status, &mut patch.undeclared);
    status
}

fn status_of(parent: &Object) -> Map<String, Value> {
    match parent.field("status") {
        Some(Value::Object(status)) => status,
        Some(_) | None => Map::new(),
    }
}

/// The fields as they are; conditions are merged separately.
fn without_conditions(present: &Map<String, Value>) -> Map<String, Value> {
    let mut fields = present.clone();
    fields.retain(|name, value| name != conditions::FIELD || !value.is_array());
    fields
}

fn fields_of_handler(
    input: StatusInput<'_>,
    fields: Map<String, Value>,
    undeclared: &mut Vec<UndeclaredField>,
) -> Map<String, Value> {
    let mut status = Value::Object(fields);
    drop_nulls(&mut status);
    let unknown = input.schema.prune(&mut status, ".status");
    undeclared.extend(unknown.into_iter().map(UndeclaredField::returned));
    match status {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Only where it is declared: an API server without a schema would store it unasked.
fn observe_generation(
    input: StatusInput<'_>,
    present: &Map<String, Value>,
    status: &mut Map<String, Value>,
) {
    const FIELD: &str = "observedGeneration";
    if !input.schema.declares(&[FIELD]) {
        return;
    }
    let generation = input.parent.generation().filter(|_| input.observed_generation);
    let value = generation.map(Value::from).or_else(|| present.get(FIELD).cloned());
    if let Some(value) = value {
        status.insert(FIELD.to_owned(), value);
    }
}

/// A hash of the desired status: if the same is written repeatedly, another client writes it too.
pub(crate) fn desired_status_hash(
    parent: &Object,
    handler: Option<&Value>,
    conditions: &[Condition],
    children: ChildrenField<'_>,
) -> u64 {
    let mut hasher = DefaultHasher::new();
    parent.generation().hash(&mut hasher);
    hash::feed(handler.unwrap_or(&Value::Null), &mut hasher);
    for Condition { ty, status, reason, message, .. } in conditions {
        (ty, status.as_str(), reason, message).hash(&mut hasher);
    }
    if let ChildrenField::Listed(children) = children {
        hash::feed(&json!(children), &mut hasher);
    }
    hasher.finish()
}

/// The paths that a [`StatusPatch`] changes; all conditions are one.
pub(crate) fn patched_paths(body: &Value) -> Vec<String> {
    fn add<'a>(value: &'a Value, path: &mut Path<'a>, paths: &mut Vec<String>) {
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                for (name, value) in fields {
                    path.enter(Segment::Field(name));
                    add(value, path, paths);
                    path.leave();
                }
            }
            _ if paths.len() < MAX_PATHS => paths.push(path.render()),
            _ => {}
        }
    }
    let (mut path, mut paths) = (Path::default(), Vec::new());
    path.enter(Segment::Field("status"));
    add(&body["status"], &mut path, &mut paths);
    paths
}

impl fmt::Debug for StatusPatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatusPatch")
            .field("writes", &self.body.is_some())
            .field("undeclared", &self.undeclared)
            .field("overruled", &self.overruled)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
