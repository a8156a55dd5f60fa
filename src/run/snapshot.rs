//! What a machine may look at, and the moment at which it does. Nothing else is read mid-way.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use super::{Cache, Effect, Memory, Settings, drift::Drift};
use crate::{
    cluster::TypeSchema,
    journal::{PausedBy, Progress},
    object::{K8sType, Object, ObjectKey, Uid, Undecodable},
    operator::{Children, is_paused},
    plan::ChildId,
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

/// What a room of a machine may look at.
pub(super) struct View<'a> {
    pub(super) settings: &'a Settings,
    pub(super) snapshot: &'a dyn Snapshot,
    pub(super) now: Now,
    /// The parent as the reconcile sees it.
    pub(super) parent: &'a Object,
    pub(super) memory: &'a Memory,
    pub(super) progress: &'a Progress,
    pub(super) drift: &'a Drift,
}

impl View<'_> {
    /// Whether a parent that is being synced is not to be any more: it is gone or being deleted, or
    /// has left the selection.
    pub(super) fn has_left(&self) -> bool {
        let now = self.parent_now();
        now.is_none_or(|now| now != *self.parent && self.settings.is_leaving(&now))
    }

    /// What pauses a parent, if anything does.
    pub(super) fn paused_by(&self, parent: &Object) -> Option<PausedBy> {
        let by_operator = self.snapshot.is_paused().then_some(PausedBy::Operator);
        is_paused(parent).then_some(PausedBy::Annotation).or(by_operator)
    }

    /// What pauses the parent by now that was not paused when it was taken up.
    pub(super) fn paused_meanwhile(&self) -> Option<PausedBy> {
        let now = self.parent_now();
        let by_annotation = now.is_some_and(|now| now != *self.parent && is_paused(&now));
        let by_operator = self.snapshot.is_paused().then_some(PausedBy::Operator);
        by_annotation.then_some(PausedBy::Annotation).or(by_operator)
    }

    /// What pauses the parent, since before or meanwhile.
    pub(super) fn paused_by_now(&self) -> Option<PausedBy> {
        self.paused_by(self.parent).or_else(|| self.paused_meanwhile())
    }

    /// The children of the parent, ours alone, of every declared type.
    pub(super) fn ours(&self, observed: &Children) -> Children {
        let config = self.settings.config();
        let of_type = |ty: &K8sType| {
            let children = observed.of_type(ty).iter();
            let ours = children.filter(|child| self.settings.is_ours(self.parent, child));
            (ty.clone(), ours.cloned().collect())
        };
        Children::new(config.children.iter().map(|child| of_type(&child.ty)))
    }

    /// How long what was written again counts. The longest backoff is within it, so that a fight is not
    /// forgotten between two slow repairs.
    pub(super) fn window(&self) -> Duration {
        self.settings.config().max_error_backoff.saturating_mul(2)
    }

    fn parent_now(&self) -> Option<Object> {
        self.snapshot.parent(self.parent.key(), self.parent.uid())
    }
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
