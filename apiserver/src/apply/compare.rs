//! The differences between two objects, as sets of paths.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{
    field_set::FieldSet,
    json_order::equal,
    path_element::{Path, PathElement},
    shape::{ListShape, MapShape, Shape, Type},
    walk::{fields_of, is_leaf_list, is_leaf_map, items_of, keyed},
};

/// The paths at which a new object differs from an old one. No path is in two of the sets.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) removed: FieldSet,
    pub(super) modified: FieldSet,
    pub(super) added: FieldSet,
}

impl Comparison {
    /// Without `paths` and all that is below them.
    pub(super) fn excluding(&self, paths: &FieldSet) -> Self {
        Self {
            removed: self.removed.recursive_difference(paths),
            modified: self.modified.recursive_difference(paths),
            added: self.added.recursive_difference(paths),
        }
    }

    /// The paths that have another value than before, or have one now.
    pub(super) fn set(&self) -> FieldSet {
        self.modified.union(&self.added)
    }
}

/// Both objects must be valid for `ty`.
pub(super) fn compare(ty: Type<'_>, old: &Value, new: &Value) -> Comparison {
    let mut walk = Walk::default();
    walk.visit(ty, Some(old), Some(new));
    walk.found
}

#[derive(Default)]
struct Walk {
    path: Path,
    found: Comparison,
}

impl Walk {
    fn visit(&mut self, ty: Type<'_>, old: Option<&Value>, new: Option<&Value>) {
        let mut leaf = false;
        match (old, new) {
            (None, None) => return,
            (Some(one), None) | (None, Some(one)) => {
                leaf = self.visit_shape(&ty.shape(Some(one)), old, new);
            }
            (Some(before), Some(after)) => {
                let (was, is) = (ty.shape(Some(before)), ty.shape(Some(after)));
                if std::mem::discriminant(&was) != std::mem::discriminant(&is) {
                    // The value changed its form: everything inside the old one is removed.
                    self.visit_shape(&was, old, new);
                }
                self.visit_shape(&is, old, new);
            }
        }
        match (old, new) {
            (None, _) if !leaf => self.found.added.insert(&self.path),
            (_, None) if !leaf => self.found.removed.insert(&self.path),
            _ => {}
        }
    }

    /// `true` if it was a leaf.
    fn visit_shape(&mut self, shape: &Shape<'_>, old: Option<&Value>, new: Option<&Value>) -> bool {
        match shape {
            Shape::Map(map) if !is_leaf_map(map, old, new) => self.visit_fields(map, old, new),
            Shape::List(list) if !is_leaf_list(list, old, new) => {
                self.visit_items(list, items_of(old), items_of(new));
            }
            _ => {
                self.visit_leaf(old, new);
                return true;
            }
        }
        false
    }

    fn visit_leaf(&mut self, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (None, _) => self.found.added.insert(&self.path),
            (_, None) => self.found.removed.insert(&self.path),
            (Some(old), Some(new)) if !equal(old, new) => self.found.modified.insert(&self.path),
            _ => {}
        }
    }

    fn visit_fields(&mut self, map: &MapShape<'_>, old: Option<&Value>, new: Option<&Value>) {
        let (no_old, no_new) = (Map::new(), Map::new());
        let old = fields_of(old).unwrap_or(&no_old);
        let new = fields_of(new).unwrap_or(&no_new);
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for name in names {
            self.path.push(PathElement::field(name));
            self.visit(map.child_or_deduced(name), old.get(name), new.get(name));
            self.path.pop();
        }
    }

    fn visit_items(&mut self, list: &ListShape<'_>, old: &[Value], new: &[Value]) {
        let (old, new) = (grouped(list, old), grouped(list, new));
        let keys: BTreeSet<&PathElement> = old.keys().chain(new.keys()).collect();
        for key in keys {
            let of = |items: &BTreeMap<PathElement, Vec<&Value>>| {
                items
                    .get(key)
                    .map_or_else(Vec::new, |items| items.iter().copied().cloned().collect())
            };
            let (old, new): (Vec<Value>, Vec<Value>) = (of(&old), of(&new));
            self.path.push(key.clone());
            self.visit_same_key(list.element, &old, &new);
            self.path.pop();
        }
    }

    /// Elements that share their key are one leaf together.
    fn visit_same_key(&mut self, element: Type<'_>, old: &[Value], new: &[Value]) {
        match (old.len(), new.len()) {
            (0 | 1, 0 | 1) => self.visit(element, old.first(), new.first()),
            (2.., 2..) => {
                let same = old.len() == new.len() && old.iter().zip(new).all(|(o, n)| equal(o, n));
                if !same {
                    self.found.modified.insert(&self.path);
                }
            }
            (2.., _) => {
                self.visit(element, None, new.first());
                self.found.removed.insert(&self.path);
            }
            _ => {
                self.visit(element, old.first(), None);
                self.found.added.insert(&self.path);
            }
        }
    }
}

fn grouped<'v>(list: &ListShape<'_>, items: &'v [Value]) -> BTreeMap<PathElement, Vec<&'v Value>> {
    let mut groups: BTreeMap<PathElement, Vec<&Value>> = BTreeMap::new();
    for (key, item) in keyed(list, items) {
        groups.entry(key).or_default().push(item);
    }
    groups
}
