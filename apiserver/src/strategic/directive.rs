//! The words of a patch that are no fields of the object, and what distinguishes elements of a list.

use serde_json::Value;

use super::{StrategicError, wording::type_name};

/// Replaces or deletes the object that has it.
pub(super) const DIRECTIVE: &str = "$patch";
/// Begins the key of the order of a list.
pub(super) const ELEMENT_ORDER: &str = "$setElementOrder";

/// The field that a key such as `$setElementOrder/ports` is about.
pub(super) fn named_list<'a>(key: &'a str, prefix: &str) -> Option<&'a str> {
    key.split_once('/').filter(|(start, _)| *start == prefix).map(|(_, name)| name)
}

/// Drops the elements and fields that are directives; `None` if the value is one itself.
pub(super) fn without_directives(value: &mut Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(DIRECTIVE) => return None,
        Value::Object(fields) => fields.retain(|_, value| match without_directives(value) {
            Some(kept) => {
                *value = kept;
                true
            }
            None => false,
        }),
        Value::Array(items) => {
            return Some(items.iter_mut().filter_map(without_directives).collect());
        }
        _ => {}
    }
    Some(value.clone())
}

/// Whether the elements are objects; all must have the same type.
pub(super) fn are_objects(lists: &[&[Value]]) -> Result<bool, StrategicError> {
    let mut elements = lists.iter().copied().flatten();
    let first = elements.next().ok_or(StrategicError::NoElements)?;
    match first {
        Value::Null => return Err(StrategicError::NullElement),
        Value::Array(_) => return Err(StrategicError::ListOfLists),
        _ => {}
    }
    if elements.any(|element| type_name(element) != type_name(first)) {
        let lists = lists.iter().map(|list| Value::from(*list)).collect();
        return Err(StrategicError::MixedElements { lists });
    }
    Ok(first.is_object())
}

/// The merge key of an element.
pub(super) fn key_of<'a>(
    element: &'a Value,
    key: &'static str,
) -> Result<&'a Value, StrategicError> {
    let fields = element
        .as_object()
        .ok_or_else(|| StrategicError::bad_type("map[string]interface {}", element))?;
    fields.get(key).ok_or_else(|| StrategicError::no_merge_key(fields, key))
}

/// Whether an element says that it is to be deleted.
pub(super) fn is_deletion(element: &Value) -> bool {
    element.get(DIRECTIVE).and_then(Value::as_str) == Some("delete")
}
