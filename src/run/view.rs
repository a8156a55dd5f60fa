//! What a module may read, and predicates on it.

use super::{Memory, Now, Settings, Sibling, drift::Drift, snapshot::Overlaid};
use crate::{
    journal::{PausedBy, Progress},
    object::{Object, Quoted, Readiness, Uid},
    operator::{Children, ConditionNames, is_paused},
    plan::{ChildId, is_orphan},
};

/// What a module may read.
pub(super) struct View<'a> {
    pub(super) settings: &'a Settings,
    pub(super) snapshot: Overlaid<'a>,
    pub(super) now: Now,
    /// The parent as the reconcile sees it.
    pub(super) parent: &'a Object,
    pub(super) memory: &'a Memory,
    pub(super) progress: &'a Progress,
    pub(super) drift: &'a Drift,
}

impl View<'_> {
    /// Whether the parent must not be synced any more: it is gone, terminating, or no longer selected. A
    /// parent that is finalized leaves when it is released.
    pub(super) fn has_left(&self) -> bool {
        let was_leaving = self.settings.is_leaving(self.parent);
        let takes_leave = self.settings.takes_leave(self.parent);
        let leaves = |now: &Object| {
            if takes_leave {
                return !self.settings.takes_leave(now);
            }
            if was_leaving { !self.settings.holds_ours(now) } else { self.settings.is_leaving(now) }
        };
        self.parent_now().is_none_or(|now| now != *self.parent && leaves(&now))
    }

    pub(super) fn paused_by(&self, parent: &Object) -> Option<PausedBy> {
        let by_operator = self.snapshot.is_paused().then_some(PausedBy::Operator);
        is_paused(parent).then_some(PausedBy::Annotation).or(by_operator)
    }

    /// What pauses the parent now and did not when the reconcile began.
    pub(super) fn paused_meanwhile(&self) -> Option<PausedBy> {
        let now = self.parent_now();
        let by_annotation = now.is_some_and(|now| now != *self.parent && is_paused(&now));
        let by_operator = self.snapshot.is_paused().then_some(PausedBy::Operator);
        by_annotation.then_some(PausedBy::Annotation).or(by_operator)
    }

    pub(super) fn paused_by_now(&self) -> Option<PausedBy> {
        self.paused_by(self.parent).or_else(|| self.paused_meanwhile())
    }

    /// The other operators of the parent.
    pub(super) fn siblings(&self) -> Vec<Sibling> {
        self.settings.beside(self.snapshot.siblings(self.parent))
    }

    /// The types of the framework's conditions in the status of the parent.
    pub(super) fn condition_names(&self) -> ConditionNames {
        self.settings.condition_names(&self.siblings())
    }

    pub(super) fn ours(&self, observed: &Children) -> Children {
        self.settings.ours(self.parent, observed)
    }

    /// A cached child, if it is ours.
    pub(super) fn own_child(&self, id: &ChildId) -> Option<Object> {
        self.snapshot.cached(id).filter(|child| self.settings.is_ours(self.parent, child))
    }

    /// Why a child is not ready.
    pub(super) fn why_not_ready(&self, id: &ChildId) -> Quoted {
        let child = self.own_child(id);
        let readiness = child.map(|child| self.settings.config().readiness(&child));
        Quoted::new(readiness.unwrap_or_else(Readiness::missing).to_string())
    }

    /// The living parent of which an object is a child that stays without it, if that is another one.
    pub(super) fn other_parent(&self, object: &Object) -> Option<Object> {
        let uid = object.label(&self.settings.config().labels.parent_uid)?;
        let is_other = is_orphan(object) && uid != self.parent.uid().to_string();
        if is_other { self.snapshot.parent_with(&Uid::new(&uid)) } else { None }
    }

    pub(super) fn parent_now(&self) -> Option<Object> {
        self.snapshot.parent(self.parent.key(), self.parent.uid())
    }
}
