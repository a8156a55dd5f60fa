//! Which version of each child is known to be as desired, so that nothing is compared twice; and
//! what our last apply left, for children that the server will never show as they were applied (an
//! admission policy changes them, or drops a field).

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use serde_json::Value;

use super::{
    ChildId, Contested, Write,
    fields::{Owned, has_keys},
    hash,
};
use crate::{
    object::{FieldItem, FieldSet, K8sType, Object, ObjectKey},
    operator::OperatorName,
};

/// What is known of the children of one parent: for each wish the version of the object at which
/// applying it would change nothing. Shares the objects with the caches.
#[derive(Debug, Clone, Default)]
pub struct Memos {
    /// Sorted by type and key.
    settled: Vec<Memo>,
    contested: BTreeMap<ChildId, Contested>,
}

/// Sixteen bytes, as there is one for every child of every parent.
#[derive(Debug, Clone)]
struct Memo {
    desired_hash: u64,
    settled: Object,
}

impl Memos {
    /// Takes in that applying `write` to this version of the child changes nothing: it is the
    /// reply to that apply, or was found to be as desired.
    pub fn remember(&mut self, write: &Write, settled: &Object) {
        self.contested.remove(&write.id);
        let memo = Memo { desired_hash: write.desired_hash, settled: settled.clone() };
        match self.find(settled.ty(), settled.key()) {
            Ok(at) => self.settled[at] = memo,
            Err(at) => self.settled.insert(at, memo),
        }
    }

    /// Takes in what was found to be as desired, of different children of which nothing is known
    /// yet: all at once, as there may be thousands.
    pub(super) fn settle(&mut self, found: impl IntoIterator<Item = (u64, Object)>) {
        let memo = |(desired_hash, settled)| Memo { desired_hash, settled };
        self.settled.extend(found.into_iter().map(memo));
        self.settled.sort_unstable_by(|a, b| a.id().cmp(&b.id()));
    }

    /// Drops what is known of a child, for example after its deletion.
    pub fn forget(&mut self, id: &ChildId) {
        self.contested.remove(id);
        if let Ok(at) = self.find(&id.ty, &id.key) {
            self.settled.remove(at);
        }
    }

    /// Takes in that others hold fields of a child. Until it changes there is nothing to do.
    pub fn contest(&mut self, contested: Contested) {
        self.forget(&contested.id);
        self.contested.insert(contested.id.clone(), contested);
    }

    /// The children of which others hold fields, by type and key.
    pub fn contested(&self) -> impl ExactSizeIterator<Item = &Contested> {
        self.contested.values()
    }

    /// What others hold of a child.
    pub fn contested_of(&self, id: &ChildId) -> Option<&Contested> {
        self.contested.get(id)
    }

    /// What others held when the same was last to be applied.
    pub(super) fn contested_for(&self, write: &Write) -> Option<&Contested> {
        let known = self.contested.get(&write.id);
        known.filter(|known| known.desired_hash == write.desired_hash)
    }

    /// The wish and the version at which the child was as it wants.
    pub(super) fn settled(&self, id: &ChildId) -> Option<(u64, &Object)> {
        let memo = &self.settled[self.find(&id.ty, &id.key).ok()?];
        Some((memo.desired_hash, &memo.settled))
    }

    /// The same of every child that was written, be it all but the fields that others hold.
    pub(super) fn left(&self, id: &ChildId) -> Option<(u64, &Object)> {
        let contested = self.contested.get(id).map(|known| (known.desired_hash, &known.left));
        self.settled(id).or(contested)
    }

    /// Whether a child is at the version at which it was left.
    pub(super) fn is_untouched(&self, child: &Object) -> bool {
        self.left(&ChildId::of(child)).is_some_and(|(_, left)| left == child)
    }

    /// Of how many children it is known how they were left.
    pub(super) fn left_count(&self) -> usize {
        self.settled.len() + self.contested.len()
    }

    /// Whether this very version is known to be what applying the write would leave.
    pub(super) fn is_settled(&self, write: &Write, live: &Object) -> bool {
        self.memo(write).is_some_and(|memo| memo.settled == *live)
    }

    /// The version at which the child was as the same wish wants, if what we own of it is still as
    /// it was then. What looked different then may look different now: applying it would change
    /// nothing.
    pub(super) fn left_alike(
        &self,
        write: &Write,
        live: &Object,
        operator: &OperatorName,
    ) -> Option<&Object> {
        let left = &self.memo(write)?.settled;
        Self::explains(left, live, operator).then_some(left)
    }

    /// Whether two versions of an object are the same in all that we own of it. A dry run of an
    /// apply whose reply is the same as the live object shows that the apply would change nothing.
    pub fn explains(live: &Object, reply: &Object, operator: &OperatorName) -> bool {
        live.uid() == reply.uid() && fingerprint(live, operator) == fingerprint(reply, operator)
    }

    /// Whether two objects are the same in all that we own of either.
    pub fn are_alike(one: &Object, other: &Object, operator: &OperatorName) -> bool {
        let owned = [one, other].map(|object| object.applied_fields(operator.as_str()));
        let [Some(of_one), Some(of_other)] = owned else {
            return content(one) == content(other);
        };
        let (one, other) = (one.to_value(), other.to_value());
        let is_same = |fields| of_fields(fields, &one) == of_fields(fields, &other);
        is_same(&of_one) && is_same(&of_other)
    }

    /// Every child of which something is remembered.
    pub fn ids(&self) -> impl Iterator<Item = ChildId> {
        let settled = self.settled.iter().map(|memo| ChildId::of(&memo.settled));
        settled.chain(self.contested.keys().cloned())
    }

    /// Whether a version of a child is remembered that is as desired.
    pub fn is_known(&self, id: &ChildId) -> bool {
        self.find(&id.ty, &id.key).is_ok()
    }

    /// How many children are remembered.
    pub fn len(&self) -> usize {
        self.settled.len()
    }

    /// Whether none is remembered.
    pub fn is_empty(&self) -> bool {
        self.settled.is_empty()
    }

    fn memo(&self, write: &Write) -> Option<&Memo> {
        let at = self.find(&write.id.ty, &write.id.key).ok()?;
        self.settled.get(at).filter(|memo| memo.desired_hash == write.desired_hash)
    }

    fn find(&self, ty: &K8sType, key: &ObjectKey) -> Result<usize, usize> {
        self.settled.binary_search_by(|memo| memo.id().cmp(&(ty, key)))
    }
}

impl Memo {
    fn id(&self) -> (&K8sType, &ObjectKey) {
        (self.settled.ty(), self.settled.key())
    }
}

/// A hash of what people and controllers put into an object: all but its status and what the
/// server itself writes.
pub(super) fn content(object: &Object) -> u64 {
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

fn of_fields(fields: &FieldSet<'_>, object: &Value) -> u64 {
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

/// Our items in the order in which the list has them: that is part of what an apply leaves.
fn in_order<'i, 'f, 'v>(
    items: &'i [FieldItem<'f>],
    live: Option<&'v Value>,
) -> Vec<(&'i FieldItem<'f>, Option<&'v Value>)> {
    let there = live.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let place = |item: &FieldItem<'f>| there.iter().position(|value| has_keys(value, &item.keys));
    let mut placed: Vec<_> = items.iter().map(|item| (place(item), item)).collect();
    placed.sort_by_key(|(at, _)| *at);
    placed.into_iter().map(|(at, item)| (item, at.map(|at| &there[at]))).collect()
}

/// Without managed fields all but the status and the server's own metadata counts.
pub(super) fn drop_volatile(object: &mut Value) {
    object.as_object_mut().map(|fields| fields.remove("status"));
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.retain(|name, _| {
            ["labels", "annotations", "ownerReferences", "finalizers"].contains(&name.as_str())
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::object::KeptManagers;

    fn operator() -> OperatorName {
        OperatorName::new("op").unwrap()
    }

    fn live(uid: &str, image: &str, others: &Value, fields: &Value) -> Object {
        let value = json!({
            "metadata": {
                "name": "a", "namespace": "ns", "uid": uid, "resourceVersion": "7",
                "labels": {"l": "v"},
                "managedFields": [{"manager": "op", "operation": "Apply", "fieldsV1": fields}],
            },
            "spec": {"containers": [{"name": "c", "image": image, "others": others}]},
        });
        let kept = KeptManagers::new(["op"]);
        Object::from_value(&K8sType::namespaced("v1", "Pod", "pods"), &value, &kept).unwrap()
    }

    fn fields() -> Value {
        json!({"f:metadata": {"f:labels": {"f:l": {}}}, "f:spec": {"f:containers": {
            "k:{\"name\":\"c\"}": {".": {}, "f:name": {}, "f:image": {}},
        }}})
    }

    fn write(image: &str) -> Write {
        let body = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "ns", "labels": {"l": "v"}},
            "spec": {"containers": [{"name": "c", "image": image}]},
        });
        let desired_hash = hash::within(usize::MAX, &body).unwrap();
        let id = ChildId::of(&live("u", "", &Value::Null, &fields()));
        Write { id, body, desired_hash, paths: Vec::new() }.creating()
    }

    #[test]
    fn the_version_that_an_apply_left_is_settled_for_the_same_wish() {
        let reply = live("u", "mirror/x", &json!(1), &fields());
        let mut memos = Memos::default();
        memos.remember(&write("x"), &reply);
        assert!(memos.is_settled(&write("x"), &reply));
        assert!(!memos.is_settled(&write("y"), &reply));
        assert!(!memos.is_settled(&write("x"), &live("v", "mirror/x", &json!(1), &fields())));
        memos.remember(&write("y"), &reply);
        assert!(!memos.is_settled(&write("x"), &reply) && memos.len() == 1);
        memos.forget(&write("y").id);
        assert!(memos.is_empty());
    }

    #[test]
    fn a_child_is_alike_while_what_we_own_is_as_our_apply_left_it() {
        let reply = live("u", "mirror/x", &json!(1), &fields());
        let mut memos = Memos::default();
        memos.remember(&write("x"), &reply);
        let less = json!({"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}}}}});
        for (wish, live, is_alike) in [
            ("x", reply.clone(), true),
            ("x", live("u", "mirror/x", &json!(2), &fields()), true),
            ("y", reply.clone(), false),
            ("x", live("v", "mirror/x", &json!(1), &fields()), false),
            ("x", live("u", "other", &json!(1), &fields()), false),
            ("x", live("u", "mirror/x", &json!(1), &less), false),
        ] {
            let alike = memos.left_alike(&write(wish), &live, &operator());
            assert_eq!(alike.is_some(), is_alike, "{wish} {live:?}");
        }
    }

    #[test]
    fn a_dry_run_that_changes_nothing_of_ours_explains_a_difference() {
        let object = live("u", "mirror/x", &json!(1), &fields());
        for (reply, explains) in [
            (live("u", "mirror/x", &json!(2), &fields()), true),
            (live("u", "x", &json!(1), &fields()), false),
            (live("v", "mirror/x", &json!(1), &fields()), false),
        ] {
            assert_eq!(Memos::explains(&object, &reply, &operator()), explains);
        }
    }
}
