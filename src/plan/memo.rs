//! What became of our last apply, for children that the server will never show as they were
//! applied (an admission policy changes them, or drops a field).

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use serde_json::Value;

use super::{
    ChildId, Write,
    existing::Differences,
    fields::{Item, Owned},
    hash,
};
use crate::{
    object::{Object, Uid},
    operator::OperatorName,
};

/// The memory of one parent. Holds only children that look different right after an apply.
#[derive(Debug, Clone, Default)]
pub struct Memos(HashMap<ChildId, Memo>);

#[derive(Debug, Clone)]
struct Memo {
    uid: Uid,
    desired_hash: u64,
    fingerprint: u64,
}

impl Memos {
    /// Takes in the reply to a write. Nothing is remembered when the reply is as desired.
    pub fn remember(&mut self, write: &Write, reply: &Object, operator: &OperatorName) {
        if Differences::between(&write.body, reply, operator).is_empty() {
            self.forget(&write.id);
            return;
        }
        let fingerprint = fingerprint(reply, operator);
        let (uid, desired_hash) = (reply.uid().clone(), write.desired_hash);
        self.0.insert(write.id.clone(), Memo { uid, desired_hash, fingerprint });
    }

    /// Drops what is known of a child, for example after its deletion.
    pub fn forget(&mut self, id: &ChildId) {
        self.0.remove(id);
    }

    /// Whether applying this again would change nothing: the same was applied before, and what we
    /// own of the object is as that apply left it.
    pub fn is_settled(
        &self,
        id: &ChildId,
        desired_hash: u64,
        live: &Object,
        operator: &OperatorName,
    ) -> bool {
        self.0.get(id).is_some_and(|memo| {
            memo.uid == *live.uid()
                && memo.desired_hash == desired_hash
                && memo.fingerprint == fingerprint(live, operator)
        })
    }

    /// Whether the reply to a dry run of an apply shows that the apply would change nothing that
    /// we own. The caller then remembers the write with the live object.
    pub fn explains(live: &Object, reply: &Object, operator: &OperatorName) -> bool {
        live.uid() == reply.uid() && fingerprint(live, operator) == fingerprint(reply, operator)
    }

    /// How many children are remembered.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none is remembered.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A hash of the paths that we own and of their values. Status, versions and times do not count:
/// we never own them.
fn fingerprint(object: &Object, operator: &OperatorName) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut live = object.to_value();
    if let Some(fields) = object.applied_fields(operator.as_str()) {
        feed(Owned::root(Some(&fields)), Some(&live), &mut hasher);
    } else {
        drop_volatile(&mut live);
        hash::feed(&live, &mut hasher);
    }
    hasher.finish()
}

fn feed(owned: Owned<'_>, live: Option<&Value>, hasher: &mut impl Hasher) {
    if owned.is_whole() {
        return hash::feed(live.unwrap_or(&Value::Null), hasher);
    }
    for item in owned.keyed().unwrap_or_default() {
        hash::feed(&Value::Object(item.keys.clone()), hasher);
        feed(item.owned, find(&item, live), hasher);
    }
    for value in owned.set().unwrap_or_default() {
        let items = live.and_then(Value::as_array);
        hash::feed(&value, hasher);
        items.is_some_and(|items| items.contains(&value)).hash(hasher);
    }
    for (name, inner) in owned.members() {
        if let Some(name) = name.strip_prefix("f:") {
            name.hash(hasher);
            feed(inner, live.and_then(|live| live.get(name)), hasher);
        }
    }
}

fn find<'a>(item: &Item<'_>, live: Option<&'a Value>) -> Option<&'a Value> {
    live?.as_array()?.iter().find(|value| item.is(value))
}

/// Without managed fields all but the status and the server's own metadata counts.
fn drop_volatile(object: &mut Value) {
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
    use crate::object::{K8sType, KeptManagers};

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
        let kept = KeptManagers(["op".to_owned()].into());
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
        let desired_hash = hash::of(&body);
        let id = ChildId::of(&live("u", "", &Value::Null, &fields()));
        Write { id, body, desired_hash, paths: Vec::new() }.creating()
    }

    #[test]
    fn only_a_child_that_differs_after_its_write_is_remembered() {
        let mut memos = Memos::default();
        memos.remember(&write("x"), &live("u", "x", &json!(1), &fields()), &operator());
        assert!(memos.is_empty());
        memos.remember(&write("x"), &live("u", "mirror/x", &json!(1), &fields()), &operator());
        assert_eq!(memos.len(), 1);
        memos.remember(&write("x"), &live("u", "x", &json!(1), &fields()), &operator());
        assert!(memos.is_empty());
    }

    #[test]
    fn a_memo_holds_for_the_same_wish_the_same_object_and_the_same_values_of_ours() {
        let reply = live("u", "mirror/x", &json!(1), &fields());
        let mut memos = Memos::default();
        memos.remember(&write("x"), &reply, &operator());
        let less = json!({"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}}}}});
        for (wish, live, is_settled) in [
            ("x", reply.clone(), true),
            ("x", live("u", "mirror/x", &json!(2), &fields()), true),
            ("y", reply.clone(), false),
            ("x", live("v", "mirror/x", &json!(1), &fields()), false),
            ("x", live("u", "other", &json!(1), &fields()), false),
            ("x", live("u", "mirror/x", &json!(1), &less), false),
        ] {
            let Write { id, desired_hash, .. } = write(wish);
            let settled = memos.is_settled(&id, desired_hash, &live, &operator());
            assert_eq!(settled, is_settled, "{wish} {live:?}");
        }
        memos.forget(&write("x").id);
        assert!(memos.is_empty());
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
