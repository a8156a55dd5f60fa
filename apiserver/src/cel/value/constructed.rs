//! Objects that an expression constructed.
//!
//! The parts of an object are not declared: any field may hold anything. Each part is compared with its place only
//! when the object is used.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    equal::equal,
    val::{Failure, Outcome, Val},
};
use crate::cel::constructed_type::OPERATION;

/// What the real interpreter says where it has no way to read a field.
const UNREADABLE: &str =
    "internal error: runtime error: invalid memory address or nil pointer dereference";

/// An object with the type that the expression gave it.
#[derive(Debug, Clone)]
pub(in crate::cel) struct Constructed<'a> {
    pub(in crate::cel) name: Arc<str>,
    pub(in crate::cel) fields: BTreeMap<Arc<str>, Val<'a>>,
}

impl<'a> Constructed<'a> {
    /// A field, or whether there is one. What was not set is null.
    pub(in crate::cel) fn select(&self, field: &str, test: bool) -> Outcome<'a> {
        if &*self.name == OPERATION {
            return Err(Failure::Crashed(UNREADABLE));
        }
        let found = self.fields.get(field);
        Ok(if test { Val::Bool(found.is_some()) } else { found.cloned().unwrap_or(Val::Null) })
    }

    /// Whether both have the same type and fields.
    pub(in crate::cel) fn equals(&self, other: &Self) -> Result<bool, Failure> {
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
    pub(in crate::cel) fn misplaced(&self) -> Option<String> {
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
