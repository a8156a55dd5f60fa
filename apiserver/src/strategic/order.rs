//! The order of a merged list: that of `$setElementOrder`, else of the patch, else of the object.
//!
//! Elements that only the object has stay before the first element that they preceded.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{
    StrategicError,
    list::{self, are_objects, is_deletion, key_of},
    map::{DIRECTIVE, ELEMENT_ORDER, named_list, without_directives},
};
use crate::builtin::PatchType;

/// Merges the lists for which the patch has an order, and takes both out of the patch.
pub(super) fn merge_ordered(
    ty: &PatchType,
    object: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
) -> Result<(), StrategicError> {
    let keys: Vec<String> =
        patch.keys().filter(|key| key.starts_with(ELEMENT_ORDER)).cloned().collect();
    for key in keys {
        let order = as_list(patch.remove(&key).unwrap_or_default())?;
        let name = named_list(&key, ELEMENT_ORDER).ok_or(StrategicError::ElementOrder)?;
        let live = object.get(name).cloned().map(as_list).transpose()?;
        let given = patch.get(name).cloned().map(as_list).transpose()?;
        if let Some(merged) = ordered(ty, name, &order, live, given)? {
            object.insert(name.to_owned(), Value::Array(merged));
            patch.remove(name);
        }
    }
    Ok(())
}

/// Like [`combine`], of elements that must have the merge key.
pub(super) fn combine_objects(
    patched: Vec<Value>,
    kept: Vec<Value>,
    patch_order: &[Value],
    live_order: &[Value],
    key: &'static str,
) -> Result<Vec<Value>, StrategicError> {
    for element in [&*patched, patch_order, &*kept, live_order].into_iter().flatten() {
        key_of(element, key)?;
    }
    Ok(combine(patched, kept, patch_order, live_order, key))
}

/// Both parts in one list, each in its order.
pub(super) fn combine(
    patched: Vec<Value>,
    kept: Vec<Value>,
    patch_order: &[Value],
    live_order: &[Value],
    key: &'static str,
) -> Vec<Value> {
    let places = Places::of(live_order, key);
    let patched = sorted(patched, &Places::of(patch_order, key));
    let kept = sorted(kept, &places);
    let mut combined = Vec::with_capacity(patched.len() + kept.len());
    let (mut patched, mut kept) = (patched.into_iter().peekable(), kept.into_iter().peekable());
    while let (Some(patch), Some(own)) = (patched.peek(), kept.peek()) {
        let before = match (places.find(own), places.find(patch)) {
            (Some(own), Some(patch)) => own < patch,
            _ => false,
        };
        combined.extend(if before { kept.next() } else { patched.next() });
    }
    combined.extend(patched.chain(kept));
    combined
}

/// The elements whose key is in the list, and the others.
pub(super) fn partition(
    elements: Vec<Value>,
    list: &[Value],
    key: &'static str,
) -> Result<(Vec<Value>, Vec<Value>), StrategicError> {
    for element in &elements {
        key_of(element, key)?;
    }
    let places = Places::of(list, key);
    Ok(elements.into_iter().partition(|element| places.find(element).is_some()))
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
    live: Option<Vec<Value>>,
    given: Option<Vec<Value>>,
) -> Result<Option<Vec<Value>>, StrategicError> {
    let field = ty.list(name)?;
    let key = field.merge_key;
    check(given.as_deref().unwrap_or_default(), order, key)?;
    let mut own = live.clone().unwrap_or_default();
    let mut sent = given.clone().unwrap_or_default();
    let merged = match (live, given) {
        (Some(live), None) => live,
        (None, Some(mut given)) => given.iter_mut().filter_map(without_directives).collect(),
        (Some(_), Some(_)) => list::merge(&field, &mut own, &mut sent, false)?,
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

/// The first place of each element of a list, by its merge key.
struct Places {
    key: &'static str,
    of: HashMap<Option<Value>, usize>,
}

impl Places {
    fn of(list: &[Value], key: &'static str) -> Self {
        let mut places = Self { key, of: HashMap::new() };
        for (place, element) in list.iter().enumerate() {
            places.of.entry(places.identity(element)).or_insert(place);
        }
        places
    }

    fn find(&self, element: &Value) -> Option<usize> {
        self.of.get(&self.identity(element)).copied()
    }

    fn identity(&self, element: &Value) -> Option<Value> {
        match element {
            Value::Object(fields) => fields.get(self.key).cloned(),
            scalar => Some(scalar.clone()),
        }
    }
}

/// How many elements are sorted as the real server sorts those that have no place.
const FAITHFUL: usize = 1_000;

/// Elements without a place are less than any other, and any other is less than they are: what comes
/// of that is decided by the insertion sort of the real server.
fn sorted(elements: Vec<Value>, places: &Places) -> Vec<Value> {
    let mut elements: Vec<(Option<usize>, Value)> =
        elements.into_iter().map(|element| (places.find(&element), element)).collect();
    if elements.len() > FAITHFUL || elements.iter().all(|(place, _)| place.is_some()) {
        elements.sort_by_key(|(place, _)| *place);
    } else {
        for end in 1..elements.len() {
            let mut at = end;
            while at > 0 && is_less(elements[at].0, elements[at - 1].0) {
                elements.swap(at, at - 1);
                at -= 1;
            }
        }
    }
    elements.into_iter().map(|(_, element)| element).collect()
}

fn is_less(one: Option<usize>, other: Option<usize>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one < other,
        _ => true,
    }
}
