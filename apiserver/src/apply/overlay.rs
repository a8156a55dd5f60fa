//! An object laid over another one without anybody managing its fields, as mutating policies do it.

use serde_json::Value;

use super::{
    merge::merge,
    path_element::PathElement,
    shape::{ListKind, ListShape, MapShape, Shape, Type},
    validate::{Duplicates, validate},
};
use crate::schema::Schema;

/// `live` with `applied` laid over it, or why that cannot be. What is one value to server-side apply must not be
/// applied: it would replace what others have set.
pub(crate) fn overlay(live: &Value, applied: &Value, schema: &Schema) -> Result<Value, String> {
    let ty = Type::of_object(schema);
    validate(applied, ty, Duplicates::Forbidden)
        .map_err(|why| format!("failed to convert patch object to typed object: {why}"))?;
    let mut found = Vec::new();
    atomics(ty, applied, "", &mut found);
    if !found.is_empty() {
        let found = found.join(", ");
        return Err(format!(
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {found}"
        ));
    }
    validate(live, ty, Duplicates::Allowed)
        .map_err(|why| format!("failed to convert original object to typed object: {why}"))?;
    Ok(merge(ty, Some(live), Some(applied)).unwrap_or_default())
}

/// The paths of the values that are only replaced as a whole.
fn atomics(ty: Type<'_>, value: &Value, path: &str, found: &mut Vec<String>) {
    match ty.shape(Some(value)) {
        Shape::Map(map) => atomic_map(&map, value, path, found),
        Shape::List(list) => atomic_list(&list, value, path, found),
        Shape::Scalar(_) => {}
    }
}

fn atomic_map(map: &MapShape<'_>, value: &Value, path: &str, found: &mut Vec<String>) {
    let Value::Object(fields) = value else { return };
    if map.atomic {
        found.push(path.to_owned());
    }
    for (name, value) in fields {
        // The values of free keys are not looked at, as the real server does not.
        if let Some(ty) = map.field(name) {
            atomics(ty, value, &format!("{path}{}", PathElement::field(name)), found);
        }
    }
}

fn atomic_list(list: &ListShape<'_>, value: &Value, path: &str, found: &mut Vec<String>) {
    let Value::Array(items) = value else { return };
    if matches!(list.kind, ListKind::Atomic) {
        found.push(path.to_owned());
    }
    for (at, item) in items.iter().enumerate() {
        let step = PathElement::Index(i64::try_from(at).unwrap_or(i64::MAX));
        atomics(list.element, item, &format!("{path}{step}"), found);
    }
}
