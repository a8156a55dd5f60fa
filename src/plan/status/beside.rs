//! A status that several operators of a parent write. Each writes its own fields and removes only what
//! it owns; a field that another one owns with another value is not written.

use serde_json::{Map, Value};

use super::{Beside, conditions, merge};
use crate::{
    diff::path::{Path, Segment},
    object::FieldSet,
    plan::HeldField,
};

/// The fields that should be, apart from conditions; `returned` are those of the handler.
pub(super) fn desired(
    beside: &Beside,
    present: &Map<String, Value>,
    returned: Map<String, Value>,
) -> Map<String, Value> {
    let mut status = present.clone();
    status.retain(|name, value| name != conditions::FIELD || !value.is_array());
    for own in &beside.own {
        release(&mut status, &returned, own);
    }
    overlay(&mut status, returned);
    status
}

/// Removes owned fields that the handler no longer returns.
fn release(status: &mut Map<String, Value>, returned: &Map<String, Value>, own: &FieldSet) {
    for (name, inner) in own.fields().filter(|(name, _)| *name != conditions::FIELD) {
        let (nothing, kept) = (Map::new(), returned.get(name));
        match (status.get_mut(name), kept) {
            (Some(Value::Object(fields)), None | Some(Value::Object(_))) if !inner.is_leaf() => {
                let kept = kept.and_then(Value::as_object);
                release(fields, kept.unwrap_or(&nothing), inner);
                if fields.is_empty() && kept.is_none() {
                    status.remove(name);
                }
            }
            (Some(_), None) => drop(status.remove(name)),
            (Some(_) | None, _) => {}
        }
    }
}

fn overlay(over: &mut Map<String, Value>, fields: Map<String, Value>) {
    for (name, value) in fields {
        match (over.get_mut(&name), value) {
            (Some(Value::Object(over)), Value::Object(fields)) => overlay(over, fields),
            (_, value) => drop(over.insert(name, value)),
        }
    }
}

/// Keeps the fields of other managers as they are. Returns those whose desired value differs.
pub(super) fn yield_to(
    beside: &Beside,
    present: &Map<String, Value>,
    desired: &mut Map<String, Value>,
) -> Vec<HeldField> {
    let mut held = Vec::new();
    for (manager, owned) in &beside.others {
        for owned in owned {
            let mut path = Path::default();
            path.enter(Segment::Field("status"));
            let mut yielding = Yielding { manager, held: &mut held };
            yielding.fields(present, desired, owned, &mut path);
        }
    }
    held
}

struct Yielding<'a> {
    manager: &'a str,
    held: &'a mut Vec<HeldField>,
}

impl Yielding<'_> {
    fn fields<'a>(
        &mut self,
        present: &Map<String, Value>,
        desired: &mut Map<String, Value>,
        owned: &'a FieldSet,
        path: &mut Path<'a>,
    ) {
        for (name, inner) in owned.fields() {
            let Some(value) = present.get(name) else { continue };
            path.enter(Segment::Field(name));
            match (value, desired.get_mut(name)) {
                (Value::Object(present), Some(Value::Object(desired))) if !inner.is_leaf() => {
                    self.fields(present, desired, inner, path);
                }
                (Value::Array(present), Some(Value::Array(desired)))
                    if name == conditions::FIELD =>
                {
                    self.conditions(present, desired, inner);
                }
                (value, Some(wanted)) if merge::same(value, wanted, None) => {}
                (value, Some(wanted)) => {
                    *wanted = value.clone();
                    self.hold(path.render());
                }
                // We owned it too, and only give it up.
                (value, None) => drop(desired.insert(name.to_owned(), value.clone())),
            }
            path.leave();
        }
    }

    /// A list without keys belongs to the last writer as a whole, and conditions merge by their type.
    fn conditions(&mut self, present: &[Value], desired: &mut [Value], owned: &FieldSet) {
        for item in owned.items() {
            let Some(ty) = item.keys.get("type") else { continue };
            let is_it = |condition: &&Value| condition["type"] == *ty;
            let Some(present) = present.iter().find(is_it) else { continue };
            let wanted = desired.iter_mut().find(|condition| condition["type"] == *ty);
            if let Some(wanted) = wanted.filter(|wanted| **wanted != *present) {
                *wanted = present.clone();
                self.hold(format!(".status.conditions[type={ty}]"));
            }
        }
    }

    fn hold(&mut self, path: String) {
        self.held.push(HeldField { path, manager: Some(self.manager.to_owned()) });
    }
}
