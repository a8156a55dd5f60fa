//! What becomes of a parent while a run is busy with it: handlers and thousands of children take
//! their time, and the watch goes on. Asks the cache alone, and decides nothing.

use super::{Context, PausedBy};
use crate::{object::Object, operator::is_paused};

impl Context {
    /// Whether a parent that is being synced is not to be any more: it is gone or being deleted, or
    /// has left the selection.
    pub(super) fn has_left(&self, parent: &Object) -> bool {
        let now = self.parent(parent.key(), parent.uid());
        now.is_none_or(|now| now != *parent && self.is_leaving(&now))
    }

    /// What pauses a parent by now that was not paused when its run took it up.
    pub(super) fn paused_meanwhile(&self, parent: &Object) -> Option<PausedBy> {
        let now = self.parent(parent.key(), parent.uid());
        let by_annotation = now.is_some_and(|now| now != *parent && is_paused(&now));
        let by_operator = self.is_paused().then_some(PausedBy::Operator);
        by_annotation.then_some(PausedBy::Annotation).or(by_operator)
    }

    /// What pauses a parent, since before or meanwhile.
    pub(super) fn paused_by_now(&self, parent: &Object) -> Option<PausedBy> {
        self.paused_by(parent).or_else(|| self.paused_meanwhile(parent))
    }
}
