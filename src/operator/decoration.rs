//! What a decorator puts on its parent, apart from status fields.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

/// The labels, the annotations and the replicas that a decorator puts on its parent. `Debug` shows names, no values.
///
/// See [`SyncResponse::decorating`](super::SyncResponse::decorating). What the next response no longer has is
/// removed.
#[derive(Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Decoration {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) labels: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) annotations: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replicas: Option<i32>,
}

impl Decoration {
    /// Nothing: what the decorator put on the parent before is removed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a label on the parent. An invalid name or value fails the reconcile, and nothing is written.
    #[must_use]
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(name.into(), value.into());
        self
    }

    /// Puts an annotation on the parent. An invalid name fails the reconcile, and nothing is written.
    #[must_use]
    pub fn annotation(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.annotations.insert(name.into(), value.into());
        self
    }

    /// Holds the parent at this number of replicas, for a decorator with
    /// [`with_held_replicas`](super::OperatorConfig::with_held_replicas). The number that it had comes back when
    /// this is no longer returned, and when the parent leaves the selection of the decorator.
    ///
    /// Written through the `scale` subresource. The earlier number is recorded first, as a label of the parent:
    /// [`HeldReplicas`](super::HeldReplicas). Where somebody else scales the parent meanwhile, that number stays.
    #[must_use]
    pub fn hold_replicas(mut self, replicas: i32) -> Self {
        self.replicas = Some(replicas);
        self
    }

    /// The labels by name.
    pub fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    /// The annotations by name.
    pub fn annotations(&self) -> &BTreeMap<String, String> {
        &self.annotations
    }

    /// The replicas at which the parent is held, if it is.
    pub fn replicas(&self) -> Option<i32> {
        self.replicas
    }
}

/// A value may be one of a Secret.
impl fmt::Debug for Decoration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.labels.keys().chain(self.annotations.keys());
        f.debug_list().entries(names).finish()
    }
}
