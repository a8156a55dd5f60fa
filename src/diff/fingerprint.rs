//! Compares versions of an object by hashes of the fields that we own.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::{
    fields::{Owned, has_keys},
    hash,
};
use crate::{
    object::{FieldItem, FieldSet, Object},
    operator::OperatorName,
};

/// Whether two versions of an object are the same in all that we own of it. A dry run of an
/// apply whose reply is the same as the live object shows that the apply would change nothing.
pub(crate) fn same_owned_fields(live: &Object, reply: &Object, operator: &OperatorName) -> bool {
    live.uid() == reply.uid() && fingerprint(live, operator) == fingerprint(reply, operator)
}

/// Whether two objects are the same in all that we own of either.
pub(crate) fn are_alike(one: &Object, other: &Object, operator: &OperatorName) -> bool {
    let owned = [one, other].map(|object| object.applied_fields(operator.as_str()));
    let [Some(of_one), Some(of_other)] = owned else {
        return content(one) == content(other);
    };
    let (one, other) = (one.to_value(), other.to_value());
    let is_same = |fields| of_fields(fields, &one) == of_fields(fields, &other);
    is_same(&of_one) && is_same(&of_other)
}

/// Whether two versions of an object differ in nothing but status, versions and times; field
/// ownership counts as a difference.
pub(crate) fn differ_in_status_only(one: &Object, other: &Object) -> bool {
    one.uid() == other.uid()
        && one.is_deleting() == other.is_deleting()
        && one.ownership_hash() == other.ownership_hash()
        && content(one) == content(other)
}

/// A hash of what users and controllers put into an object: all but its status and what the server
/// itself writes.
pub(crate) fn content(object: &Object) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut live = object.to_value();
    drop_volatile(&mut live);
    hash::feed(&live, &mut hasher);
    hasher.finish()
}

/// A hash of the paths that we own and of their values. Status, versions and times do not count:
/// we never own them.
fn fingerprint(object: &Object, operator: &OperatorName) -> u64 {
    let Some(fields) = object.applied_fields(operator.as_str()) else { return content(object) };
    of_fields(&fields, &object.to_value())
}

fn of_fields(fields: &FieldSet, object: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    feed(Owned::root(Some(fields)), Some(object), &mut hasher);
    hasher.finish()
}

fn feed(owned: Owned<'_>, live: Option<&Value>, hasher: &mut impl Hasher) {
    if owned.is_whole() {
        return hash::feed(live.unwrap_or(&Value::Null), hasher);
    }
    for (item, live) in in_order(owned.keyed().unwrap_or_default(), live) {
        hash::feed_fields(&item.keys, hasher);
        feed(Owned::Node(&item.owned), live, hasher);
    }
    for value in owned.set().unwrap_or_default() {
        let items = live.and_then(Value::as_array);
        hash::feed(value, hasher);
        items.is_some_and(|items| items.contains(value)).hash(hasher);
    }
    for (name, inner) in owned.fields() {
        name.hash(hasher);
        feed(inner, live.and_then(|live| live.get(name)), hasher);
    }
}

/// Our items in the order of the list, which is part of what an apply leaves.
fn in_order<'i, 'v>(
    items: &'i [FieldItem],
    live: Option<&'v Value>,
) -> Vec<(&'i FieldItem, Option<&'v Value>)> {
    let there = live.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let place = |item: &FieldItem| there.iter().position(|value| has_keys(value, &item.keys));
    let mut placed: Vec<_> = items.iter().map(|item| (place(item), item)).collect();
    placed.sort_by_key(|(at, _)| *at);
    placed.into_iter().map(|(at, item)| (item, at.map(|at| &there[at]))).collect()
}

pub(crate) fn drop_volatile(object: &mut Value) {
    object.as_object_mut().map(|fields| fields.remove("status"));
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.retain(|name, _| {
            ["labels", "annotations", "ownerReferences", "finalizers"].contains(&name.as_str())
        });
    }
}
