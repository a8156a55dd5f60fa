//! What a machine may look at, and the moment at which it does. Nothing else is read mid-way.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Instant, SystemTime},
};

use super::{Cache, Effect, Settings};
use crate::{
    object::{K8sType, Object, ObjectKey, Uid, Undecodable},
    operator::Children,
    plan::ChildId,
    reply::TypeSchema,
};

/// What is known at the moment of a step. Borrowed and lazy: a machine takes about a dozen steps.
pub trait Snapshot {
    /// The cached parent, if it is still the one with this uid.
    fn parent(&self, key: &ObjectKey, uid: &Uid) -> Option<Object>;
    /// A cached object.
    fn cached(&self, id: &ChildId) -> Option<Object>;
    /// The cached objects that name the parent, ours or not.
    fn observed(&self, parent: &Object) -> Children;
    /// Whether the newest version of an object cannot be read.
    fn is_undecodable(&self, id: &ChildId) -> bool;
    /// The children of a parent of which the newest version cannot be read.
    fn undecodable_children(&self, parent: &Object) -> Vec<Undecodable>;
    /// The child types whose absence from the cache proves nothing to a parent.
    fn unsynced(&self, parent: &Object) -> BTreeSet<K8sType>;
    /// Whether a parent may be another by now without our having been told.
    fn may_be_old(&self, parent: &Object) -> bool;
    /// Whether the operator is paused.
    fn is_paused(&self) -> bool;
    /// Why children cannot be listed.
    fn unavailable(&self) -> Option<String>;
    /// How many more requests may be sent at once.
    fn spare(&self) -> usize;
    /// How many children the operator has; looks at all of them.
    fn count_children(&self) -> usize;
    /// What the schema of the parents says, if that was read of late.
    fn fresh_schema(&self) -> Option<Arc<TypeSchema>>;
    /// The same as it was last read, if it was.
    fn known_schema(&self) -> Option<Arc<TypeSchema>>;
}

/// The moment of a step, on both clocks.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// On the clock that never goes back.
    pub monotonic: Instant,
    /// On the wall.
    pub wall: SystemTime,
}

/// A snapshot with what the caches are about to learn: a room reads what the one before it has written.
pub(super) struct Overlaid<'a> {
    under: &'a dyn Snapshot,
    effects: &'a [Effect],
    settings: &'a Settings,
}

/// What is about to be learnt of an object.
enum Learnt {
    Is(Object),
    Gone,
}

impl<'a> Overlaid<'a> {
    pub(super) fn new(
        under: &'a dyn Snapshot,
        effects: &'a [Effect],
        settings: &'a Settings,
    ) -> Self {
        Self { under, effects, settings }
    }

    /// The newest of what is about to be learnt of an object.
    fn overlaid(&self, id: &ChildId) -> Option<Learnt> {
        let learnt = |effect: &Effect| match effect {
            Effect::Cache(Cache::Wrote(object) | Cache::Saw(object)) => (object.ty() == &id.ty
                && object.key() == &id.key
                && self.settings.is_watched(object))
            .then(|| Learnt::Is(object.clone())),
            Effect::Cache(Cache::Deleted(gone, _) | Cache::Absent(gone, _)) => {
                (gone == id).then_some(Learnt::Gone)
            }
            _ => None,
        };
        self.effects.iter().rev().find_map(learnt)
    }
}

impl Snapshot for Overlaid<'_> {
    fn parent(&self, key: &ObjectKey, uid: &Uid) -> Option<Object> {
        let id = ChildId { ty: self.settings.config().parent.clone(), key: key.clone() };
        match self.overlaid(&id) {
            Some(Learnt::Is(parent)) => Some(parent).filter(|parent| parent.uid() == uid),
            Some(Learnt::Gone) => None,
            None => self.under.parent(key, uid),
        }
    }

    fn cached(&self, id: &ChildId) -> Option<Object> {
        match self.overlaid(id) {
            Some(Learnt::Is(object)) => Some(object),
            Some(Learnt::Gone) => None,
            None => self.under.cached(id),
        }
    }

    fn observed(&self, parent: &Object) -> Children {
        self.under.observed(parent)
    }

    fn is_undecodable(&self, id: &ChildId) -> bool {
        self.under.is_undecodable(id)
    }

    fn undecodable_children(&self, parent: &Object) -> Vec<Undecodable> {
        self.under.undecodable_children(parent)
    }

    fn unsynced(&self, parent: &Object) -> BTreeSet<K8sType> {
        self.under.unsynced(parent)
    }

    fn may_be_old(&self, parent: &Object) -> bool {
        self.under.may_be_old(parent)
    }

    fn is_paused(&self) -> bool {
        self.under.is_paused()
    }

    fn unavailable(&self) -> Option<String> {
        self.under.unavailable()
    }

    fn spare(&self) -> usize {
        self.under.spare()
    }

    fn count_children(&self) -> usize {
        self.under.count_children()
    }

    fn fresh_schema(&self) -> Option<Arc<TypeSchema>> {
        self.under.fresh_schema()
    }

    fn known_schema(&self) -> Option<Arc<TypeSchema>> {
        self.under.known_schema()
    }
}
