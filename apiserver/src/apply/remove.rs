//! An object without certain fields and list elements.

use serde_json::{Map, Value};

use super::{
    field_set::FieldSet,
    list_key,
    path_element::PathElement,
    shape::{ListKind, ListShape, MapShape, Shape, Type},
};

/// `value` without the members of `paths`. A container of which nothing is left is null.
pub(super) fn remove(ty: Type<'_>, value: &Value, paths: &FieldSet) -> Value {
    remove_inside(ty, value, paths).unwrap_or_default()
}

/// `None` when nothing is left.
fn remove_inside(ty: Type<'_>, value: &Value, paths: &FieldSet) -> Option<Value> {
    match (ty.shape(Some(value)), value) {
        (Shape::Scalar(_), scalar) => Some(scalar.clone()),
        (Shape::Map(map), Value::Object(fields)) if !map.atomic => {
            remove_from_map(&map, fields, paths)
        }
        (Shape::List(list), Value::Array(items)) if !matches!(list.kind, ListKind::Atomic) => {
            remove_from_list(&list, items, paths)
        }
        _ => None,
    }
}

fn remove_from_map(
    map: &MapShape<'_>,
    fields: &Map<String, Value>,
    paths: &FieldSet,
) -> Option<Value> {
    let kept = fields.iter().filter_map(|(name, value)| {
        let ty = map.child_or_deduced(name);
        Some((name.clone(), keep(ty, &PathElement::field(name), value, paths)?))
    });
    let kept: Map<_, _> = kept.collect();
    (!kept.is_empty()).then_some(Value::Object(kept))
}

fn remove_from_list(list: &ListShape<'_>, items: &[Value], paths: &FieldSet) -> Option<Value> {
    let kept = items.iter().filter_map(|item| match list_key::element(list, item) {
        Ok(key) => keep(list.element, &key, item, paths),
        Err(_) => Some(item.clone()),
    });
    let kept: Vec<_> = kept.collect();
    (!kept.is_empty()).then_some(Value::Array(kept))
}

fn keep(ty: Type<'_>, step: &PathElement, value: &Value, paths: &FieldSet) -> Option<Value> {
    if paths.members.contains(step) {
        return None;
    }
    match paths.children.get(step) {
        Some(below) => Some(remove(ty, value, below)),
        None => Some(value.clone()),
    }
}
