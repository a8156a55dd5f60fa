//! What a room of a machine may look at, and what is plain from that.

use super::{Memory, Now, Settings, Snapshot, drift::Drift};
use crate::{
    journal::{PausedBy, Progress},
    object::Object,
    operator::{Children, is_paused},
};

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
        self.settings.ours(self.parent, observed)
    }

    fn parent_now(&self) -> Option<Object> {
        self.snapshot.parent(self.parent.key(), self.parent.uid())
    }
}
