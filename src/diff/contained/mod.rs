//! Whether a live object contains the desired one, and where not. Fields that are ours and no
//! longer desired are found in [`owned`](super::owned).
//!
//! In doubt it reports a difference: one apply settles it, and the result is remembered.

mod text;

use serde_json::{Map, Value};

use super::{
    builtin,
    fields::{Owned, has_keys, keys_of, pair},
    path::{Path, Segment},
    quantity,
};
use crate::{
    object::{FieldItem, FieldSet, K8sType, Object},
    reply::Defaults,
};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Difference<'a> {
    pub(crate) path: String,
    /// The desired value; `None` where there is none.
    pub(crate) desired: Option<&'a Value>,
    /// The live value; `None` where there is none. Equal to the desired value where only our
    /// ownership is missing.
    pub(crate) live: Option<&'a Value>,
}

/// All paths at which the live object lacks a desired value, given the fields that we own.
pub(crate) fn differences_from(
    live: &Object,
    desired: &Value,
    fields: Option<&FieldSet>,
    defaults: &Defaults,
) -> Vec<String> {
    let paths = |found: Vec<Difference<'_>>| found.into_iter().map(|found| found.path).collect();
    let known = (fields, defaults);
    let compared = || paths(compared(live.ty(), desired, &live.to_value(), known, usize::MAX));
    if fields.is_some_and(|fields| text::is_plainly_contained(desired, live, fields)) {
        debug_assert_eq!(compared(), Vec::<String>::new(), "{live:?}");
        return Vec::new();
    }
    compared()
}

/// The same with both values; at most `most` of them. `known`: the fields that we own, and the defaults of the type.
pub(crate) fn compared<'a>(
    ty: &K8sType,
    desired: &'a Value,
    live: &'a Value,
    known: (Option<&FieldSet>, &'a Defaults),
    most: usize,
) -> Vec<Difference<'a>> {
    let ((fields, defaults), is_builtin) = (known, ty.is_builtin());
    let (path, found) = <_>::default();
    let mut comparison = Comparison { is_builtin, defaults, path, found, most };
    comparison.values(desired, Some(live), Owned::root(fields));
    comparison.found
}

struct Comparison<'a> {
    is_builtin: bool,
    defaults: &'a Defaults,
    path: Path<'a>,
    found: Vec<Difference<'a>>,
    most: usize,
}

impl<'a> Comparison<'a> {
    fn values(&mut self, desired: &'a Value, live: Option<&'a Value>, owned: Owned<'_>) {
        let same = match (desired, live) {
            (Value::Object(desired), Some(Value::Object(live))) => {
                return self.objects(desired, live, owned);
            }
            (Value::Array(items), Some(Value::Array(there))) => {
                if self.lists(items, there, owned) {
                    return;
                }
                false
            }
            (desired, None | Some(Value::Null)) => self.is_dropped(desired, owned),
            (desired, Some(live)) => self.same_scalar(desired, live),
        };
        if !same {
            self.record(Some(desired), live);
        }
    }

    fn objects(
        &mut self,
        desired: &'a Map<String, Value>,
        live: &'a Map<String, Value>,
        owned: Owned<'_>,
    ) {
        let owned = if self.is_lost_selector(owned) { Owned::Whole } else { owned };
        for (name, value) in desired {
            self.at(Segment::Field(name), |this| {
                this.values(value, live.get(name), owned.field(name));
            });
        }
        if !owned.is_whole() || self.asks_for_defaults(desired, owned) {
            return;
        }
        // We own an atomic value as a whole: an entry that is not desired now was desired before.
        for (name, value) in live {
            if !desired.contains_key(name) && !value.is_null() {
                self.at(Segment::Field(name), |this| this.extra(value));
            }
        }
    }

    /// A leaf in the managed fields is an atomic value, or a value that was applied empty.
    fn asks_for_defaults(&self, desired: &Map<String, Value>, owned: Owned<'_>) -> bool {
        let is_leaf = matches!(owned, Owned::Node(_));
        self.is_builtin && is_leaf && desired.is_empty() && !builtin::is_selector(&self.path)
    }

    /// A selector is one value, even if another field manager owns it.
    fn is_lost_selector(&self, owned: Owned<'_>) -> bool {
        self.is_builtin && !owned.is_something() && builtin::is_selector(&self.path)
    }

    fn extra(&mut self, value: &'a Value) {
        if !self.is_default(value) {
            self.record(None, Some(value));
        }
    }

    fn is_default(&self, value: &Value) -> bool {
        let is_it = |(names, default): (&[Box<str>], &Value)| {
            *default == *value && self.path.has_names(names)
        };
        self.is_builtin && builtin::is_default(&self.path, value) || self.defaults.iter().any(is_it)
    }

    /// Returns whether they can be compared item by item; `false` means that they differ as a
    /// whole.
    fn lists(&mut self, desired: &'a [Value], live: &'a [Value], owned: Owned<'_>) -> bool {
        if let Some(items) = owned.keyed() {
            return self.keyed_lists(desired, live, items);
        }
        if owned.set().is_some() {
            self.sets(desired, live);
        } else if desired.len() == live.len() {
            let inner = if owned.is_whole() { Owned::Whole } else { Owned::Nothing };
            for (index, (desired, live)) in desired.iter().zip(live).enumerate() {
                self.at(Segment::Index(index), |this| this.values(desired, Some(live), inner));
            }
        } else {
            return false;
        }
        true
    }

    /// An apply puts its items in its own order; items of others may be between them.
    fn keyed_lists(
        &mut self,
        desired: &'a [Value],
        live: &'a [Value],
        items: &[FieldItem],
    ) -> bool {
        let names = items[0].keys.keys();
        let keys: Vec<_> = live.iter().map(|item| keys_of(item, names.clone())).collect();
        let paired = pair(desired, &keys);
        let is_in_order = paired.iter().flatten().is_sorted();
        for (index, (desired, at)) in desired.iter().zip(paired).enumerate() {
            let live = at.map(|at| &live[at]);
            let item = items.iter().find(|item| live.is_some_and(|it| has_keys(it, &item.keys)));
            let owned = item.map_or(Owned::Nothing, |item| Owned::Node(&item.owned));
            let keys = at.map_or_else(|| keys_of(desired, names.clone()), |at| keys[at].clone());
            self.at(Segment::item(keys, index), |this| this.values(desired, live, owned));
        }
        is_in_order
    }

    fn sets(&mut self, desired: &'a [Value], live: &[Value]) {
        for (index, value) in desired.iter().enumerate() {
            if !live.iter().any(|live| self.same_scalar(value, live)) {
                self.at(Segment::Index(index), |this| this.record(Some(value), None));
            }
        }
    }

    fn same_scalar(&self, desired: &Value, live: &Value) -> bool {
        desired == live
            || same_number(desired, live)
            || (self.is_builtin
                && builtin::is_quantity(&self.path)
                && quantity::same(desired, live))
    }

    /// Whether the server dropped a value when we applied it, as it does with empty values. A value
    /// that somebody else removed is no longer ours. Nobody owns an empty list with keys.
    fn is_dropped(&mut self, desired: &'a Value, owned: Owned<'_>) -> bool {
        let is_empty = match desired {
            Value::Array(items) => return items.is_empty() && self.drops_lists(),
            Value::Object(fields) if !fields.is_empty() => {
                let is_inner_dropped = |(name, value): (&'a String, &'a Value)| {
                    let inner = owned.field(name);
                    self.at(Segment::Field(name), |this| this.is_dropped(value, inner))
                };
                return owned.is_something() && fields.iter().all(is_inner_dropped);
            }
            Value::Object(_) | Value::Null => true,
            Value::Bool(value) => !value,
            Value::Number(number) => number.as_f64() == Some(0.0),
            Value::String(text) => text.is_empty(),
        };
        is_empty && self.was_applied(desired, owned)
    }

    /// Whether an empty value was part of our last apply. Owning the value around it is no proof:
    /// the empty one may be desired only since then.
    fn was_applied(&self, desired: &Value, owned: Owned<'_>) -> bool {
        match owned {
            Owned::Nothing => false,
            Owned::Whole => self.is_builtin && builtin::is_dropped_when_empty(&self.path, desired),
            Owned::Node(_) => true,
        }
    }

    /// A custom resource keeps its empty lists.
    fn drops_lists(&self) -> bool {
        self.is_builtin || self.path.is(&["metadata", "finalizers"])
    }

    fn at<T>(&mut self, segment: Segment<'a>, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.path.enter(segment);
        let result = inside(self);
        self.path.leave();
        result
    }

    fn record(&mut self, desired: Option<&'a Value>, live: Option<&'a Value>) {
        if self.found.len() < self.most {
            self.found.push(Difference { path: self.path.render(), desired, live });
        }
    }
}

fn same_number(a: &Value, b: &Value) -> bool {
    let is_whole = |value: &Value| value.is_i64() || value.is_u64();
    !(is_whole(a) && is_whole(b)) && a.as_f64().is_some() && a.as_f64() == b.as_f64()
}

#[cfg(test)]
mod tests;
