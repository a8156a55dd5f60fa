//! Objects that expressions construct: `Object{..}` and its parts for what a policy applies, `JSONPatch{..}` for one
//! operation of a patch.
//!
//! The parts of an object are not declared: any field may hold anything. Only when the object is used is each part
//! compared with its place.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    equal::equal,
    ty::Type,
    value::{Failure, Outcome, Val},
};

/// The type of an operation.
const OPERATION: &str = "JSONPatch";
/// The type of a whole object; those of its parts have it as a prefix.
const OBJECT: &str = "Object";
/// What the real interpreter says where it has no way to read a field.
const UNREADABLE: &str =
    "internal error: runtime error: invalid memory address or nil pointer dereference";

/// An object with the type that the expression gave it.
#[derive(Debug, Clone)]
pub(super) struct Constructed<'a> {
    pub(super) name: Arc<str>,
    pub(super) fields: BTreeMap<Arc<str>, Val<'a>>,
}

/// Whether objects of a type can be constructed.
pub(super) fn is_type(name: &str) -> bool {
    name == OPERATION || name == OBJECT || name.starts_with("Object.")
}

/// The type of a field of such an object, if it can have that field.
pub(super) fn field_type(name: &str, field: &str) -> Option<Type> {
    match field {
        "op" | "path" | "from" if name == OPERATION => Some(Type::String),
        "value" if name == OPERATION => Some(Type::Dyn),
        _ if name == OPERATION => None,
        _ => Some(Type::Dyn),
    }
}

/// The type of a list of operations.
pub(super) fn patch_type() -> Type {
    Type::list(Type::Named(OPERATION.into()))
}

/// The type of a whole object.
pub(super) fn object_type() -> Type {
    Type::Named(OBJECT.into())
}

impl<'a> Constructed<'a> {
    /// A field, or whether there is one. What was not set is null.
    pub(super) fn select(&self, field: &str, test: bool) -> Outcome<'a> {
        if &*self.name == OPERATION {
            return Err(Failure::Crashed(UNREADABLE));
        }
        let found = self.fields.get(field);
        Ok(if test { Val::Bool(found.is_some()) } else { found.cloned().unwrap_or(Val::Null) })
    }

    /// Whether both have the same type and fields.
    pub(super) fn equals(&self, other: &Self) -> Result<bool, Failure> {
        if self.name != other.name || self.fields.len() != other.fields.len() {
            return Ok(false);
        }
        for ((name, mine), (other_name, other)) in self.fields.iter().zip(&other.fields) {
            if name != other_name || !equal(mine, other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The parts whose types do not say where they are, one a line.
    pub(super) fn misplaced(&self) -> Option<String> {
        let mut found = Vec::new();
        self.compare(&self.name, &mut found);
        (!found.is_empty()).then(|| found.join("\n"))
    }

    fn compare(&self, place: &str, found: &mut Vec<String>) {
        if *self.name != *place {
            found.push(format!(
                "unexpected type name {:?}, expected {place:?}, which matches field name path from \
                 root Object type",
                self.name
            ));
        }
        for (field, value) in &self.fields {
            compare(value, &format!("{place}.{field}"), found);
        }
    }
}

/// Lists and maps have no names and are no steps.
fn compare(value: &Val<'_>, place: &str, found: &mut Vec<String>) {
    match value {
        Val::Constructed(object) => object.compare(place, found),
        Val::List(list) => list.iter().flatten().for_each(|item| compare(&item, place, found)),
        Val::Map(map) => {
            let values = map.keys().into_iter().filter_map(|key| map.get(&key).ok());
            values.for_each(|value| compare(&value, place, found));
        }
        _ => {}
    }
}
