//! The live object with the applied one laid over it.
//!
//! Merging only adds and changes; what the applier no longer applies is pruned afterwards.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{
    path_element::PathElement,
    shape::{ListShape, MapShape, Shape, Type},
    walk::{fields_of, is_leaf_list, is_leaf_map, items_of, keyed},
};

/// Both sides must be valid for `ty`; `None` where neither side has a value.
pub(super) fn merge(ty: Type<'_>, live: Option<&Value>, applied: Option<&Value>) -> Option<Value> {
    let newest = applied.or(live)?;
    match ty.shape(Some(newest)) {
        Shape::Map(map) if !is_leaf_map(&map, live, applied) => merge_maps(&map, live, applied),
        Shape::List(list) if !is_leaf_list(&list, live, applied) => {
            merge_lists(&list, items_of(live), items_of(applied))
        }
        _ => Some(newest.clone()),
    }
}

fn merge_maps(map: &MapShape<'_>, live: Option<&Value>, applied: Option<&Value>) -> Option<Value> {
    let (empty_live, empty_applied) = (Map::new(), Map::new());
    let live = fields_of(live).unwrap_or(&empty_live);
    let applied = fields_of(applied).unwrap_or(&empty_applied);
    let names: BTreeSet<&String> = live.keys().chain(applied.keys()).collect();
    let merged = names.into_iter().filter_map(|name| {
        let value = merge(map.child_or_deduced(name), live.get(name), applied.get(name))?;
        Some((name.clone(), value))
    });
    let merged: Map<_, _> = merged.collect();
    (!merged.is_empty()).then_some(Value::Object(merged))
}

fn merge_lists(list: &ListShape<'_>, live: &[Value], applied: &[Value]) -> Option<Value> {
    let mut zip = Zip::new(list, live, applied);
    while zip.step() {}
    (!zip.merged.is_empty()).then_some(Value::Array(zip.merged))
}

/// Brings two lists into one order: the common elements as in the applied list, each of the
/// others where its own list has it.
struct Zip<'a> {
    list: &'a ListShape<'a>,
    live: Vec<(PathElement, &'a Value)>,
    applied: Vec<(PathElement, &'a Value)>,
    live_values: BTreeMap<PathElement, &'a Value>,
    applied_values: BTreeMap<PathElement, &'a Value>,
    next_live: usize,
    next_applied: usize,
    /// Elements of the applied list that are in the result already.
    placed: BTreeSet<PathElement>,
    merged: Vec<Value>,
}

impl<'a> Zip<'a> {
    fn new(list: &'a ListShape<'a>, live: &'a [Value], applied: &'a [Value]) -> Self {
        let (live, applied) = (keyed(list, live), keyed(list, applied));
        Self {
            list,
            live_values: without_duplicates(&live),
            applied_values: applied.iter().cloned().collect(),
            live,
            applied,
            next_live: 0,
            next_applied: 0,
            placed: BTreeSet::new(),
            merged: Vec::new(),
        }
    }

    /// Places or skips an element; `false` at the end of both lists.
    fn step(&mut self) -> bool {
        let live = self.live.get(self.next_live).cloned();
        let applied = self.applied.get(self.next_applied).map(|(key, _)| key.clone());
        match (live, applied) {
            (None, None) => return false,
            (None, Some(applied)) => self.place_applied(applied),
            (Some((key, value)), applied) => self.step_live(key, value, applied),
        }
        true
    }

    fn step_live(&mut self, key: PathElement, value: &Value, applied: Option<PathElement>) {
        if !self.applied_values.contains_key(&key) {
            self.next_live += 1;
            return self.merged.extend(merge(self.list.element, Some(value), None));
        }
        match applied {
            Some(applied) if applied == key => {
                self.next_live += 1;
                self.place_applied(key);
            }
            // A common element, but another one is due: its turn comes with the applied list.
            Some(_) if self.next_common().is_some_and(|due| *due != key) => self.next_live += 1,
            applied => {
                if self.placed.contains(&key) {
                    self.next_live += 1;
                }
                if let Some(applied) = applied {
                    self.place_applied(applied);
                }
            }
        }
    }

    /// The first element of the rest of the applied list that the live list has too.
    fn next_common(&self) -> Option<&PathElement> {
        let rest = self.applied[self.next_applied..].iter().map(|(key, _)| key);
        rest.into_iter().find(|key| self.live_values.contains_key(key))
    }

    fn place_applied(&mut self, key: PathElement) {
        self.next_applied += 1;
        let (live, applied) = (self.live_values.get(&key), self.applied_values.get(&key));
        self.merged.extend(merge(self.list.element, live.copied(), applied.copied()));
        self.placed.insert(key);
    }
}

/// Elements that share their key cannot be merged with: the applied one replaces them.
fn without_duplicates<'v>(items: &[(PathElement, &'v Value)]) -> BTreeMap<PathElement, &'v Value> {
    let mut values = BTreeMap::new();
    for (key, value) in items {
        let known = values.contains_key(key);
        values.insert(key.clone(), if known { &Value::Null } else { *value });
    }
    values
}
