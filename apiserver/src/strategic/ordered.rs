//! Lists for which the patch has an order, `$setElementOrder`.

use serde_json::{Map, Value};

use super::{
    StrategicError,
    directive::{
        DIRECTIVE, ELEMENT_ORDER, are_objects, is_deletion, key_of, named_list, without_directives,
    },
    list::{self, MergeObjects},
    order::{combine, combine_objects, partition},
};
use crate::builtin::PatchType;

/// Merges the lists for which the patch has an order, and takes both out of the patch.
pub(super) fn merge_ordered(
    ty: &PatchType,
    object: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    merge: MergeObjects,
) -> Result<(), StrategicError> {
    let keys: Vec<String> =
        patch.keys().filter(|key| key.starts_with(ELEMENT_ORDER)).cloned().collect();
    for key in keys {
        let order = as_list(patch.remove(&key).unwrap_or_default())?;
        let name = named_list(&key, ELEMENT_ORDER).ok_or(StrategicError::ElementOrder)?;
        let live = object.get(name).cloned().map(as_list).transpose()?;
        let given = patch.get(name).cloned().map(as_list).transpose()?;
        if let Some(merged) = ordered(ty, name, &order, (live, given), merge)? {
            object.insert(name.to_owned(), Value::Array(merged));
            patch.remove(name);
        }
    }
    Ok(())
}

fn as_list(value: Value) -> Result<Vec<Value>, StrategicError> {
    match value {
        Value::Array(list) => Ok(list),
        other => Err(StrategicError::bad_type("[]interface {}", &other)),
    }
}

fn ordered(
    ty: &PatchType,
    name: &str,
    order: &[Value],
    (live, given): (Option<Vec<Value>>, Option<Vec<Value>>),
    merge: MergeObjects,
) -> Result<Option<Vec<Value>>, StrategicError> {
    let field = ty.list(name)?;
    let key = field.merge_key;
    check(given.as_deref().unwrap_or_default(), order, key)?;
    let mut own = live.clone().unwrap_or_default();
    let mut sent = given.clone().unwrap_or_default();
    let merged = match (live, given) {
        (Some(live), None) => live,
        (None, Some(mut given)) => given.iter_mut().filter_map(without_directives).collect(),
        (Some(_), Some(_)) => list::merge(&field, &mut own, &mut sent, false, merge)?,
        (None, None) => return Ok(None),
    };
    let (patched, kept) = if key.is_empty() {
        merged.into_iter().partition(|element| order.contains(element))
    } else {
        partition(merged, order, key)?
    };
    let sorted = if are_objects(&[&own, &sent])? {
        combine_objects(patched, kept, order, &own, key)?
    } else {
        combine(patched, kept, order, &own, key)
    };
    Ok(Some(sorted))
}

/// Refuses an order that lacks elements of the patch, or has them in another order.
fn check(patch: &[Value], order: &[Value], key: &'static str) -> Result<(), StrategicError> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    if !key.is_empty()
        && let Some(other) = patch.iter().find(|element| !element.is_object())
    {
        return Err(StrategicError::bad_type("map[string]interface {}", other));
    }
    let is_kept = |element: &&Value| key.is_empty() || !is_deletion(element);
    let mut wanted = patch.iter().filter(is_kept).peekable();
    let mut places = order.iter().peekable();
    while let (Some(element), Some(place)) = (wanted.peek(), places.peek()) {
        if element.get(DIRECTIVE).is_some() {
            wanted.next();
            continue;
        }
        let same = match key {
            "" => element == place,
            key => key_of(element, key)? == key_of(place, key)?,
        };
        if same {
            wanted.next();
        }
        places.next();
    }
    if wanted.next().is_none() || places.next().is_some() {
        return Ok(());
    }
    let (patch, order) = (Value::from(patch), Value::from(order));
    Err(StrategicError::OrderMismatch { patch, order })
}
