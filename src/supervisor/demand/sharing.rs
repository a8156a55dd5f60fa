//! The part of the watches that a process needs which shares its parents out with others.

use std::collections::BTreeSet;

use crate::{
    cluster::{Shard, ShardedBy, WatchSpec},
    election::Buckets,
    object::K8sType,
    operator::BUCKET_LABEL,
};

/// The part of all parents that a process works for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::supervisor) struct Sharing {
    pub(in crate::supervisor) buckets: Buckets,
    /// The types of children of which some may have no label of their bucket.
    pub(in crate::supervisor) unlabelled: BTreeSet<K8sType>,
    /// The labels whose value is the uid of a parent.
    pub(in crate::supervisor) parent_labels: BTreeSet<String>,
}

/// What the objects of a type are to the operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Parents,
    Children,
    /// Parents of one operator and children of another.
    Both,
    /// They are read, whatever their bucket is.
    Anybody,
}

impl Sharing {
    /// The watch of the objects of the buckets.
    pub(super) fn narrowed(&self, spec: WatchSpec, whose: Whose) -> WatchSpec {
        let labels = || self.parent_labels.clone();
        let by = match whose {
            Whose::Anybody => return spec,
            // Without a range the server would send all objects: none has that label.
            _ if self.buckets.is_empty() => return self.selected(spec),
            Whose::Parents => ShardedBy::Uid,
            Whose::Both => ShardedBy::Either(labels()),
            Whose::Children if self.unlabelled.contains(&spec.ty) => ShardedBy::Parent(labels()),
            Whose::Children => return self.selected(spec),
        };
        WatchSpec { shard: Some(Shard { buckets: self.buckets, by }), ..spec }
    }

    /// The same by the label of the bucket.
    fn selected(&self, spec: WatchSpec) -> WatchSpec {
        if self.buckets == Buckets::ALL {
            return spec;
        }
        let numbers: Vec<String> = self.buckets.iter().map(|bucket| bucket.to_string()).collect();
        // An empty set is no selector.
        let numbers = if numbers.is_empty() { "none".to_owned() } else { numbers.join(",") };
        let within = format!("{BUCKET_LABEL} in ({numbers})");
        let labels = spec.label_selector.map_or(within.clone(), |it| format!("{it},{within}"));
        WatchSpec { label_selector: Some(labels), ..spec }
    }
}

impl Whose {
    pub(super) fn union(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Anybody, _) | (_, Self::Anybody) => Self::Anybody,
            _ => Self::Both,
        }
    }
}
