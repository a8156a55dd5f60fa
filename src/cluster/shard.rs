//! The part of a type that one of several processes watches. Values only.
//!
//! The server selects where it can: children by their label, objects by their uid where it has `shardSelector` (KEP-5866). What
//! it sends beside that is dropped before it is kept.

use std::collections::BTreeSet;

use crate::{
    election::{Bucket, Buckets},
    object::{Object, Outline, Uid, Undecodable},
};

/// The objects of some buckets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shard {
    pub(crate) buckets: Buckets,
    pub(crate) by: ShardedBy,
}

/// By what an object is in a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ShardedBy {
    /// By its own uid.
    Uid,
    /// By the uid of its parent, which is its controller or the value of one of these labels.
    Parent(BTreeSet<String>),
    /// By either: the type is one of parents and one of children.
    Either(BTreeSet<String>),
}

impl Shard {
    pub(super) fn includes(&self, outline: &Outline<'_>) -> bool {
        let by_uid = || self.buckets.has(Bucket::of_text(outline.uid()));
        let by_parent = |labels: &_| outline.parents(labels).iter().any(|uid| self.has(uid));
        self.is_in(by_uid, by_parent)
    }

    pub(super) fn has_object(&self, object: &Object) -> bool {
        let by_uid = || self.has(object.uid());
        let by_parent = |labels: &BTreeSet<String>| {
            let labelled = labels.iter().filter_map(|label| object.label(label));
            let is_labelled = labelled.map(|uid| Uid::new(&uid)).any(|uid| self.has(&uid));
            is_labelled || object.controller().is_some_and(|uid| self.has(uid))
        };
        self.is_in(by_uid, by_parent)
    }

    /// Whether an object may be in the buckets, as far as it can be read.
    pub(super) fn may_include(&self, object: &Undecodable) -> bool {
        let by_uid = || object.uid().is_none_or(|uid| self.has(uid));
        let by_parent = |labels: &BTreeSet<String>| {
            let named = |label| object.labels().and_then(|all| all.get(label));
            let labelled = labels.iter().filter_map(named).map(|uid| Uid::new(uid));
            let parents: Vec<Uid> = object.owners().iter().cloned().chain(labelled).collect();
            parents.is_empty() || parents.iter().any(|uid| self.has(uid))
        };
        self.is_in(by_uid, by_parent)
    }

    fn is_in(
        &self,
        by_uid: impl Fn() -> bool,
        by_parent: impl Fn(&BTreeSet<String>) -> bool,
    ) -> bool {
        match &self.by {
            ShardedBy::Uid => by_uid(),
            ShardedBy::Parent(labels) => by_parent(labels),
            ShardedBy::Either(labels) => by_uid() || by_parent(labels),
        }
    }

    fn has(&self, uid: &Uid) -> bool {
        self.buckets.has(Bucket::of(uid))
    }

    /// The `shardSelector`, where the server can select the objects by their uids.
    pub(super) fn selector(&self) -> Option<String> {
        if self.by != ShardedBy::Uid || self.buckets == Buckets::ALL {
            return None;
        }
        let range = |(first, last): (u8, u8)| {
            let (start, end) = (bound(first.into()), bound(u128::from(last) + 1));
            format!("shardRange(object.metadata.uid, '{start}', '{end}')")
        };
        let ranges: Vec<String> = self.buckets.ranges().into_iter().map(range).collect();
        (!ranges.is_empty()).then(|| ranges.join(" || "))
    }

    /// A text that differs where the objects do.
    pub(super) fn identity(&self) -> String {
        format!("{:?} {}", self.by, self.buckets)
    }
}

/// The hash at which a bucket begins; the one after the last has 17 digits.
fn bound(bucket: u128) -> String {
    format!("0x{:016x}", bucket << (u64::BITS - 6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{K8sType, KeptManagers};

    #[test]
    fn buckets_are_ranges_of_hashes() {
        let shard = |text: &str| Shard { buckets: text.parse().unwrap(), by: ShardedBy::Uid };
        let range = |start, end| format!("shardRange(object.metadata.uid, '{start}', '{end}')");
        assert_eq!(shard("").selector(), None);
        let first = range("0x0000000000000000", "0x8000000000000000");
        assert_eq!(shard("0-31").selector().unwrap(), first);
        let both = [
            range("0x0400000000000000", "0x0800000000000000"),
            range("0xfc00000000000000", "0x10000000000000000"),
        ];
        assert_eq!(shard("1,63").selector().unwrap(), both.join(" || "));
        let by = ShardedBy::Parent(BTreeSet::new());
        assert_eq!(Shard { by, ..shard("0-31") }.selector(), None, "the server knows no parents");
    }

    #[test]
    fn an_object_is_in_the_bucket_of_its_uid_or_of_its_parent() {
        let text = r#"{"metadata":{"name":"a","uid":"child","resourceVersion":"1","labels":{"p":"labelled"},
            "ownerReferences":[{"uid":"owner","controller":true}]}}"#;
        let outline = Outline::read(text).unwrap();
        let of = |uid: &str| Buckets::from(Bucket::of_text(uid));
        let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        let value = serde_json::from_str(text).unwrap();
        let object = Object::from_value(&ty, &value, &KeptManagers::default()).unwrap();
        let includes = |buckets, by| {
            let shard = Shard { buckets, by };
            assert_eq!(shard.includes(&outline), shard.has_object(&object), "cached or not");
            shard.includes(&outline)
        };
        let labels = BTreeSet::from(["p".to_owned()]);
        let parent = || ShardedBy::Parent(labels.clone());
        assert!(includes(of("child"), ShardedBy::Uid) && !includes(of("owner"), ShardedBy::Uid));
        assert!(includes(of("owner"), parent()) && includes(of("labelled"), parent()));
        assert!(!includes(of("child"), parent()));
        assert!(includes(of("child"), ShardedBy::Either(labels.clone())));
    }
}
