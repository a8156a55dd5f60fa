//! Adapts a set that was written under an older schema to the current one.
//!
//! A map or list that has become atomic is owned as a whole by whoever owned a part of it. The
//! other direction needs nothing: the owner of the whole keeps it, and parts get new owners.

use super::{
    field_set::FieldSet,
    path_element::PathElement,
    shape::{ListKind, Shape, Type},
};

pub(super) fn reconcile(ty: Type<'_>, set: &FieldSet) -> FieldSet {
    let mut reconciled = FieldSet { members: set.members.clone(), ..FieldSet::default() };
    for (element, below) in &set.children {
        match type_below(ty, element) {
            Some(child) if is_atomic(child) => {
                reconciled.members.insert(element.clone());
            }
            Some(child) => {
                reconciled.children.insert(element.clone(), reconcile(child, below));
            }
            None => {
                reconciled.children.insert(element.clone(), below.clone());
            }
        }
    }
    reconciled
}

fn is_atomic(ty: Type<'_>) -> bool {
    match ty.shape(None) {
        Shape::Map(map) => map.atomic,
        Shape::List(list) => matches!(list.kind, ListKind::Atomic),
        Shape::Scalar(_) => false,
    }
}

/// `None` where sets are not changed because the schema of the values is unknown.
fn type_below<'a>(ty: Type<'a>, element: &PathElement) -> Option<Type<'a>> {
    match (ty.shape(None), element) {
        (Shape::Map(map), _) if map.is_free_form() => None,
        (Shape::Map(map), PathElement::Field(name)) => map.child(name),
        (Shape::List(list), _) => Some(list.element),
        _ => None,
    }
}
