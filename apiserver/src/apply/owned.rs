//! The paths that an applied object claims: its leaves, list elements and keys of maps.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{
    field_set::FieldSet,
    path_element::{Path, PathElement},
    shape::{ListKind, ListShape, MapShape, Shape, Type},
    walk::keyed,
};

/// `value` must be valid for `ty`.
pub(super) fn field_set(ty: Type<'_>, value: &Value) -> FieldSet {
    let mut walk = Walk::default();
    walk.visit(ty, value);
    walk.set
}

#[derive(Default)]
struct Walk {
    path: Path,
    set: FieldSet,
}

impl Walk {
    fn visit(&mut self, ty: Type<'_>, value: &Value) {
        match (ty.shape(Some(value)), value) {
            (Shape::Scalar(_), _) => self.claim(),
            (Shape::Map(map), _) if map.atomic => self.claim(),
            (Shape::List(list), _) if matches!(list.kind, ListKind::Atomic) => self.claim(),
            (Shape::Map(map), Value::Object(fields)) => self.visit_fields(&map, fields),
            (Shape::List(list), Value::Array(items)) => self.visit_items(&list, items),
            _ => {}
        }
    }

    fn visit_fields(&mut self, map: &MapShape<'_>, fields: &Map<String, Value>) {
        for (name, value) in fields {
            self.path.push(PathElement::field(name));
            self.visit(map.child_or_deduced(name), value);
            let nothing_inside = value.is_null() || value.as_object().is_some_and(Map::is_empty);
            if nothing_inside || map.field(name).is_none() {
                self.claim();
            }
            self.path.pop();
        }
    }

    fn visit_items(&mut self, list: &ListShape<'_>, items: &[Value]) {
        let mut counts: BTreeMap<PathElement, usize> = BTreeMap::new();
        let items = keyed(list, items);
        for (key, _) in &items {
            *counts.entry(key.clone()).or_default() += 1;
        }
        let unique: BTreeSet<_> = counts.into_iter().filter(|(_, n)| *n == 1).collect();
        for (key, item) in items {
            let alone = unique.contains(&(key.clone(), 1));
            self.path.push(key);
            if alone {
                self.visit(list.element, item);
            }
            self.claim();
            self.path.pop();
        }
    }

    fn claim(&mut self) {
        self.set.insert(&self.path);
    }
}
