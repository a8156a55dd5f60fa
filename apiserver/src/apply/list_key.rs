//! The path element of a list element.

use serde_json::{Map, Value};

use super::{
    json_order::Ordered,
    path_element::PathElement,
    shape::{ListKind, ListShape, MapShape},
};

/// How `item` is named among the elements of its list, or why it cannot be.
pub(super) fn element(list: &ListShape<'_>, item: &Value) -> Result<PathElement, String> {
    match list.kind {
        ListKind::Keyed(keys) if !keys.is_empty() => keyed(list, keys, item),
        ListKind::Keyed(_) | ListKind::Set => of_set(item),
        ListKind::Atomic => Err("invalid indexing of non-associative list".to_owned()),
    }
}

fn of_set(item: &Value) -> Result<PathElement, String> {
    let problem = match item {
        Value::Object(_) => "associative list without keys has an element that's a map type",
        Value::Array(_) => "not supported: associative list with lists as elements",
        Value::Null => "associative list without keys has an element that's an explicit null",
        scalar => return Ok(PathElement::Value(Ordered(scalar.clone()))),
    };
    Err(problem.to_owned())
}

fn keyed(list: &ListShape<'_>, keys: &[String], item: &Value) -> Result<PathElement, String> {
    let fields = match item {
        Value::Object(fields) => fields,
        Value::Null => return Err("associative list with keys may not have a null element".into()),
        _ => return Err("associative list with keys may not have non-map elements".into()),
    };
    let Some(item_type) = list.element.map() else {
        return Err("associative list may not have non-map types".into());
    };
    let found = keys.iter().filter_map(|key| Some((key.clone(), value(&item_type, fields, key)?)));
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        return Err(keyless(keys));
    }
    Ok(PathElement::key(found))
}

fn value(item_type: &MapShape<'_>, fields: &Map<String, Value>, key: &str) -> Option<Ordered> {
    let default = || item_type.field(key).and_then(super::shape::Type::default_value);
    fields.get(key).or_else(default).cloned().map(Ordered)
}

fn keyless(keys: &[String]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
    format!(
        "associative list with keys has an element that omits all key fields [{}] (and doesn't \
         have default values for any key fields)",
        keys.join(" ")
    )
}
