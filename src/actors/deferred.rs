//! Decides when a reconcile that was deferred by a pause of the operator is due. Pure.

use std::mem;

#[derive(Debug, Default)]
pub(super) struct Deferred {
    /// Whether the last reconcile was incomplete because of the pause.
    pub(super) is_deferred: bool,
    /// Whether the operator was resumed during the reconcile in progress, which may have begun before.
    was_resumed: bool,
}

impl Deferred {
    /// A reconcile begins: it sees all earlier commands.
    pub(super) fn begin(&mut self) {
        self.was_resumed = false;
    }

    /// A reconcile has ended. Returns whether it was incomplete and another one is due now.
    pub(super) fn end(&mut self, is_incomplete: bool) -> bool {
        let is_due = mem::take(&mut self.was_resumed) && is_incomplete;
        self.is_deferred = is_incomplete && !is_due;
        is_due
    }

    /// The operator is no longer paused. Returns whether a reconcile is due or in progress.
    pub(super) fn resume(&mut self, is_running: bool) -> bool {
        self.was_resumed = is_running;
        mem::take(&mut self.is_deferred) || is_running
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resumed_operator_makes_a_deferred_reconcile_due_once() {
        let mut deferred = Deferred::default();
        assert!(!deferred.resume(false), "nothing was deferred");
        deferred.begin();
        assert!(!deferred.end(true) && deferred.is_deferred);
        assert!(deferred.resume(false) && !deferred.is_deferred);
        assert!(!deferred.resume(false), "it is already due");
    }

    #[test]
    fn an_incomplete_reconcile_that_began_before_the_end_of_the_pause_is_followed_by_another() {
        let mut deferred = Deferred::default();
        deferred.begin();
        assert!(deferred.resume(true));
        assert!(deferred.end(true) && !deferred.is_deferred);
        // A reconcile that began after the pause defers as usual.
        assert!(deferred.resume(true));
        deferred.begin();
        assert!(!deferred.end(true) && deferred.is_deferred);
        assert!(deferred.resume(true));
        assert!(!deferred.end(false) && !deferred.is_deferred, "it was complete");
        assert!(!deferred.end(true) && deferred.is_deferred, "a later pause deferred it");
    }
}
