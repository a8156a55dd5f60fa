//! Reading and writing a field of an object by its path, as in `spec.template.spec`.
//!
//! Names with dots in them (labels) are not for these functions.

use serde_json::{Map, Value};

/// The value at a path, unless it or a part of the way is absent or `null`.
pub(super) fn get<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    let found = path.split('.').try_fold(object, |value, name| value.get(name))?;
    (!found.is_null()).then_some(found)
}

/// The text at a path; empty when there is none.
pub(super) fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    get(object, path).and_then(Value::as_str).unwrap_or_default()
}

/// The number at a path.
pub(super) fn number(object: &Value, path: &str) -> Option<i64> {
    get(object, path).and_then(Value::as_i64)
}

/// Whether there is `true` at a path.
pub(super) fn flag(object: &Value, path: &str) -> bool {
    get(object, path).and_then(Value::as_bool).unwrap_or_default()
}

/// The elements at a path.
pub(super) fn list<'a>(object: &'a Value, path: &str) -> &'a [Value] {
    get(object, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The elements of a list; none of anything else.
pub(super) fn list_of(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The elements at a path, to be changed.
pub(super) fn list_mut<'a>(object: &'a mut Value, path: &str) -> &'a mut [Value] {
    get_mut(object, path).and_then(Value::as_array_mut).map_or(&mut [], Vec::as_mut_slice)
}

/// The value at a path, to be changed.
pub(super) fn get_mut<'a>(object: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    path.split('.').try_fold(object, |value, name| value.get_mut(name))
}

/// The map at a path, created if absent; `None` if another value exists there.
pub(super) fn map_mut<'a>(object: &'a mut Value, path: &str) -> Option<&'a mut Map<String, Value>> {
    let names = path.split('.').filter(|name| !name.is_empty());
    names.fold(object.as_object_mut(), |map, name| {
        let next = map?.entry(name).or_insert(Value::Null);
        if next.is_null() {
            *next = Value::Object(Map::new());
        }
        next.as_object_mut()
    })
}

/// Writes the value at a path and creates its parents.
pub(super) fn set(object: &mut Value, path: &str, value: impl Into<Value>) {
    let (parents, name) = path.rsplit_once('.').unwrap_or(("", path));
    if let Some(map) = map_mut(object, parents) {
        map.insert(name.to_owned(), value.into());
    }
}

/// Writes the value at a path unless there is one.
pub(super) fn set_if_absent(object: &mut Value, path: &str, value: impl Into<Value>) {
    if get(object, path).is_none() {
        set(object, path, value);
    }
}

/// Removes the value at a path.
pub(super) fn remove(object: &mut Value, path: &str) {
    let (parents, name) = path.rsplit_once('.').unwrap_or(("", path));
    let parent = if parents.is_empty() { Some(object) } else { get_mut(object, parents) };
    if let Some(map) = parent.and_then(Value::as_object_mut) {
        map.remove(name);
    }
}

/// Gives `object` the value that `from` has at a path, or none.
pub(super) fn copy(object: &mut Value, from: &Value, path: &str) {
    match get(from, path) {
        Some(value) => set(object, path, value.clone()),
        None => remove(object, path),
    }
}
