//! What a machine may read, and the time of a step. Nothing else is read during a step.

use std::{
    ops::Deref,
    sync::Arc,
    time::{Instant, SystemTime},
};

use super::{Cache, Effect, Settings, Sibling};
use crate::{
    object::{K8sType, Object, ObjectKey, Uid, Undecodable},
    operator::Children,
    plan::{ChildId, Unsynced},
    reply::TypeSchema,
};

/// The caches at the time of a step. Borrowed and lazy: a machine takes about a dozen steps.
pub(crate) trait Snapshot {
    /// The cached parent, if it is still the one with this uid.
    fn parent(&self, key: &ObjectKey, uid: &Uid) -> Option<Object>;
    /// The cached parent with this uid; reads all of them.
    fn parent_with(&self, uid: &Uid) -> Option<Object>;
    fn cached(&self, id: &ChildId) -> Option<Object>;
    /// The cached objects that refer to the parent, ours or not.
    fn observed(&self, parent: &Object) -> Children;
    /// Whether the newest version of an object is undecodable.
    fn is_undecodable(&self, id: &ChildId) -> bool;
    /// The children of a parent whose newest version is undecodable.
    fn undecodable_children(&self, parent: &Object) -> Vec<Undecodable>;
    /// What may be missing in the caches of the child types of a parent.
    fn unsynced(&self, parent: &Object) -> Unsynced;
    fn may_be_old(&self, parent: &Object) -> bool;
    /// The other operators of a parent in this process.
    fn siblings(&self, parent: &Object) -> Vec<Sibling>;
    fn is_paused(&self) -> bool;
    /// The reason if children of a parent cannot be listed.
    fn unavailable(&self, parent: &ObjectKey) -> Option<String>;
    /// How many more requests may be sent concurrently.
    fn spare(&self) -> usize;
    /// The number of children of the operator; reads all of them.
    fn count_children(&self) -> usize;
    /// The schema of the parents, if it was read recently.
    fn fresh_schema(&self) -> Option<Arc<TypeSchema>>;
    /// The known schema of a type: of the parents the last one, of children and related objects one that was read recently.
    fn known_schema(&self, ty: &K8sType) -> Option<Arc<TypeSchema>>;
}

/// The time of a step, on both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    pub(crate) monotonic: Instant,
    pub(crate) wall: SystemTime,
}

/// A snapshot with the pending changes of the caches: a module reads the writes of the previous one.
pub(super) struct Overlaid<'a> {
    under: &'a dyn Snapshot,
    effects: &'a [Effect],
    settings: &'a Settings,
    /// The parent, if not the cached one counts.
    parent: Option<&'a Object>,
}

/// A pending change of an object.
enum Pending {
    Is(Object),
    Gone,
}

impl<'a> Overlaid<'a> {
    pub(super) fn new(
        under: &'a dyn Snapshot,
        effects: &'a [Effect],
        settings: &'a Settings,
    ) -> Self {
        Self { under, effects, settings, parent: None }
    }

    pub(super) fn with_parent(self, parent: Option<&'a Object>) -> Self {
        Self { parent, ..self }
    }

    fn overlaid(&self, id: &ChildId) -> Option<Pending> {
        let pending = |effect: &Effect| match effect {
            Effect::Cache(Cache::Wrote(object) | Cache::Saw(object)) => (object.ty() == &id.ty
                && object.key() == &id.key
                && self.settings.is_watched(object))
            .then(|| Pending::Is(object.clone())),
            Effect::Cache(Cache::Deleted(gone, _) | Cache::Absent(gone, _)) => {
                (gone == id).then_some(Pending::Gone)
            }
            _ => None,
        };
        self.effects.iter().rev().find_map(pending)
    }

    /// As [`Snapshot::parent`].
    pub(super) fn parent(&self, key: &ObjectKey, uid: &Uid) -> Option<Object> {
        if let Some(parent) = self.parent {
            return Some(parent.clone());
        }
        let id = ChildId { ty: self.settings.config().parent.clone(), key: key.clone() };
        match self.overlaid(&id) {
            Some(Pending::Is(parent)) => Some(parent).filter(|parent| parent.uid() == uid),
            Some(Pending::Gone) => None,
            None => self.under.parent(key, uid),
        }
    }

    /// As [`Snapshot::cached`].
    pub(super) fn cached(&self, id: &ChildId) -> Option<Object> {
        match self.overlaid(id) {
            Some(Pending::Is(object)) => Some(object),
            Some(Pending::Gone) => None,
            None => self.under.cached(id),
        }
    }
}

/// What the pending changes do not touch.
impl<'a> Deref for Overlaid<'a> {
    type Target = dyn Snapshot + 'a;

    fn deref(&self) -> &Self::Target {
        self.under
    }
}
