//! The order of a merged list: first that of the patch, then that of the object.
//!
//! Elements that only the object has stay before the first element that they preceded.

use std::collections::HashMap;

use serde_json::Value;

use super::{StrategicError, directive::key_of};

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
