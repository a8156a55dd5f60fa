//! Shared by the walks over one or two typed values.

use serde_json::{Map, Value};

use super::{
    list_key,
    path_element::PathElement,
    shape::{ListKind, ListShape, MapShape},
};

pub(super) fn fields_of(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value?.as_object()
}

pub(super) fn items_of(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The elements of a list with their path elements; those without a key are skipped, which
/// validation has refused before.
pub(super) fn keyed<'v>(list: &ListShape<'_>, items: &'v [Value]) -> Vec<(PathElement, &'v Value)> {
    items.iter().filter_map(|item| Some((list_key::element(list, item).ok()?, item))).collect()
}

/// Whether both sides of a map are one leaf: an atomic map, or nothing to descend into. The
/// latter keeps `{}`, `null` and absent apart.
pub(super) fn is_leaf_map(map: &MapShape<'_>, left: Option<&Value>, right: Option<&Value>) -> bool {
    let empty = |value| fields_of(value).is_none_or(Map::is_empty);
    map.atomic || (empty(left) && empty(right))
}

/// The same for a list.
pub(super) fn is_leaf_list(
    list: &ListShape<'_>,
    left: Option<&Value>,
    right: Option<&Value>,
) -> bool {
    let atomic = matches!(list.kind, ListKind::Atomic);
    atomic || (items_of(left).is_empty() && items_of(right).is_empty())
}
