//! What a machine may read, and the time of a step. Nothing else is read during a step.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Instant, SystemTime},
};

use super::{Cache, Settings};
use crate::{
    object::{K8sType, Object},
    operator::Pause,
    plan::{ChildId, Unsynced},
    reply::{Defaults, TypeSchema},
    store::Frozen,
};

/// The state of one moment, taken before a step: two reads of one step never differ. Beside the objects it has what is
/// certain of them, and what else a step depends on.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) objects: Frozen,
    pub(crate) doubts: Doubts,
    pub(crate) schemas: Schemas,
    /// The other operators of the process for parents of this type.
    pub(crate) others: Vec<Arc<Settings>>,
    /// The pause of the operator.
    pub(crate) pause: Option<Arc<Pause>>,
    /// Why children of the parent cannot be listed.
    pub(crate) unavailable: Option<String>,
    /// Whether children that lack only the label of their bucket get it.
    pub(crate) sets_labels: bool,
    /// How many more requests may be sent concurrently.
    pub(crate) spare: usize,
    /// The changes of the caches by this step: a module reads the writes of the previous one. `None` for an object that
    /// is gone.
    pub(crate) changes: BTreeMap<ChildId, Option<Object>>,
}

/// What the caches do not know.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    /// Whether the newest version of the parent is undecodable.
    pub(crate) is_parent_undecodable: bool,
    /// Whether the cached parent may be outdated.
    pub(crate) may_be_old: bool,
    /// The children of the parent whose newest version is undecodable.
    pub(crate) undecodable: Vec<ChildId>,
    /// What may be missing of the children of the parent.
    pub(crate) unsynced: Unsynced,
}

#[derive(Debug, Default)]
pub(crate) struct Schemas {
    /// The schema of the parents, if it was read recently.
    pub(crate) fresh: Option<Arc<TypeSchema>>,
    /// The known schemas of types that may be custom: of the parents the last one, of children and related objects one
    /// that was read recently.
    pub(crate) known: BTreeMap<K8sType, Arc<TypeSchema>>,
    /// The defaults of child types that may be custom, as they were last read; none where that failed. A type that was
    /// not read is missing.
    pub(crate) defaults: BTreeMap<K8sType, Arc<Defaults>>,
}

/// The time of a step, on both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    pub(crate) monotonic: Instant,
    pub(crate) wall: SystemTime,
}

impl Snapshot {
    /// A cached object.
    pub(super) fn cached(&self, id: &ChildId) -> Option<Object> {
        match self.changes.get(id) {
            Some(changed) => changed.clone(),
            None => self.objects.get(&id.ty, &id.key),
        }
    }

    /// A module of this step changes a cache. What no watch covers is not cached.
    pub(super) fn change(&mut self, cache: &Cache, settings: &Settings) {
        match cache {
            Cache::Wrote(object) | Cache::Saw(object) if settings.is_watched(object) => {
                self.changes.insert(ChildId::of(object), Some(object.clone()));
            }
            Cache::Wrote(_) | Cache::Saw(_) => {}
            Cache::Deleted(id, _) | Cache::Absent(id, _) => {
                self.changes.insert(id.clone(), None);
            }
        }
    }
}
