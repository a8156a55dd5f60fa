//! Merges a list of a patch into one of the object: objects by their merge key, scalars as a set.

use std::{collections::HashSet, mem};

use serde_json::{Map, Value};

use super::{
    StrategicError,
    directive::{DIRECTIVE, are_objects, key_of},
    order,
};
use crate::builtin::{PatchField, PatchType};

/// How objects are merged: for those that are elements of lists.
pub(super) type MergeObjects = fn(
    &PatchType,
    Map<String, Value>,
    &mut Map<String, Value>,
) -> Result<Map<String, Value>, StrategicError>;

/// The list after the patch.
///
/// `live` becomes what the real server sees of it afterwards, whose order it goes by: elements that are
/// deleted leave room, and the first ones that are added take it.
pub(super) fn merge(
    field: &PatchField,
    live: &mut Vec<Value>,
    patch: &mut [Value],
    deletes: bool,
    merge: MergeObjects,
) -> Result<Vec<Value>, StrategicError> {
    if field.strategy != "merge" && !deletes {
        return Ok(patch.to_vec());
    }
    if live.is_empty() && patch.is_empty() {
        return Ok(Vec::new());
    }
    if !are_objects(&[live, patch])? {
        return Ok(scalars(field.merge_key, live, patch, deletes));
    }
    if field.merge_key.is_empty() {
        return Err(StrategicError::NoDeclaredKey(field.ty.kind()));
    }
    let (key, size) = (field.merge_key, live.len());
    let Special { replaces, patch } = special(key, live, patch)?;
    let order: Vec<Value> = patch.iter().map(|element| (**element).clone()).collect();
    if replaces {
        return by_key(key, order.clone(), &[], &order);
    }
    let room = size - live.len();
    let merged = objects(&field.ty, key, live, patch, merge)?;
    let added: Vec<Value> = merged.iter().skip(live.len()).take(room).cloned().collect();
    let combined = by_key(key, merged, &order, live)?;
    live.extend(added);
    Ok(combined)
}

fn scalars(key: &'static str, live: &[Value], patch: &[Value], deletes: bool) -> Vec<Value> {
    let patched: HashSet<&Value> = patch.iter().collect();
    if deletes {
        return live.iter().filter(|element| !patched.contains(element)).cloned().collect();
    }
    let merged = deduplicated([live, patch].concat());
    let (chosen, kept) = merged.into_iter().partition(|element| patched.contains(element));
    order::combine(chosen, kept, patch, live, key)
}

/// How many elements are freed from duplicates as the real server does it. The time grows with the square.
const FAITHFUL: usize = 1_000;

/// The last element takes the place of a duplicate: the order matters to the result.
fn deduplicated(mut list: Vec<Value>) -> Vec<Value> {
    if list.len() > FAITHFUL {
        let mut seen = HashSet::new();
        list.retain(|element| seen.insert(element.clone()));
        return list;
    }
    let mut index = 0;
    while index < list.len() {
        let mut other = index + 1;
        while other < list.len() {
            if list[index] == list[other] {
                list.swap_remove(other);
            } else {
                other += 1;
            }
        }
        index += 1;
    }
    list
}

/// A patch without its special elements.
struct Special<'a> {
    replaces: bool,
    patch: Vec<&'a mut Value>,
}

/// Deletes from the list what the patch deletes.
fn special<'a>(
    key: &'static str,
    live: &mut Vec<Value>,
    patch: &'a mut [Value],
) -> Result<Special<'a>, StrategicError> {
    let mut found = Special { replaces: false, patch: Vec::new() };
    for element in patch {
        let Some(word) = element.get(DIRECTIVE) else {
            found.patch.push(element);
            continue;
        };
        match word.as_str() {
            Some("delete") => {
                let deleted = key_of(element, key)?;
                live.retain(|element| element.get(key) != Some(deleted));
            }
            Some("replace") => found.replaces = true,
            Some("merge") => return Err(StrategicError::MergeDirective),
            _ => {
                let (word, map) = (word.clone(), element.clone());
                return Err(StrategicError::BadDirective { word, map });
            }
        }
    }
    Ok(found)
}

fn objects(
    ty: &PatchType,
    key: &'static str,
    live: &[Value],
    patch: Vec<&mut Value>,
    merge: MergeObjects,
) -> Result<Vec<Value>, StrategicError> {
    let mut merged = live.to_vec();
    for element in patch {
        let wanted = key_of(element, key)?;
        let same = merged.iter_mut().find(|known| known.get(key) == Some(wanted));
        match (same, element) {
            (Some(Value::Object(known)), Value::Object(element)) => {
                *known = merge(ty, mem::take(known), element)?;
            }
            (_, element) => merged.push(element.clone()),
        }
    }
    Ok(merged)
}

fn by_key(
    key: &'static str,
    merged: Vec<Value>,
    patch: &[Value],
    live: &[Value],
) -> Result<Vec<Value>, StrategicError> {
    let (patched, kept) = order::partition(merged, patch, key)?;
    order::combine_objects(patched, kept, patch, live, key)
}
