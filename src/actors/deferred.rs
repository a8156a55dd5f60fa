//! What a reconcile has left undone because its operator is paused, and when another is to make up for it.
//! Pure.

use std::mem;

/// Whether a parent is owed a reconcile.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    is_owed: bool,
    /// Whether the operator was resumed during the reconcile that is under way, which may have begun before.
    was_resumed: bool,
}

impl Deferred {
    /// Whether the last reconcile left something undone, and is to wait with it.
    pub(super) fn is_owed(&self) -> bool {
        self.is_owed
    }

    /// A reconcile begins: it sees what was ordered before.
    pub(super) fn begin(&mut self) {
        self.was_resumed = false;
    }

    /// A reconcile has ended. Returns whether it left undone what may be done by now.
    pub(super) fn end(&mut self, has_left_undone: bool) -> bool {
        let is_due = mem::take(&mut self.was_resumed) && has_left_undone;
        self.is_owed = has_left_undone && !is_due;
        is_due
    }

    /// The operator is no longer paused. Returns whether a reconcile is to come: until then the parent waits
    /// for its turn, and for nobody.
    pub(super) fn resume(&mut self, is_running: bool) -> bool {
        self.was_resumed = is_running;
        mem::take(&mut self.is_owed) || is_running
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_up_for_is_no_longer_owed() {
        let mut deferred = Deferred::default();
        assert!(!deferred.resume(false), "nothing was left undone");
        deferred.begin();
        assert!(!deferred.end(true) && deferred.is_owed());
        assert!(deferred.resume(false) && !deferred.is_owed());
        assert!(!deferred.resume(false), "it comes already");
    }

    #[test]
    fn a_reconcile_that_began_before_the_end_of_the_pause_is_made_up_for() {
        let mut deferred = Deferred::default();
        deferred.begin();
        assert!(deferred.resume(true));
        assert!(deferred.end(true) && !deferred.is_owed());
        // One that saw the end, or another pause, owes what it says.
        assert!(deferred.resume(true));
        deferred.begin();
        assert!(!deferred.end(true) && deferred.is_owed());
        assert!(deferred.resume(true));
        assert!(!deferred.end(false) && !deferred.is_owed(), "it did all");
        assert!(!deferred.end(true) && deferred.is_owed(), "of a pause that began later");
    }
}
