//! What a run has left undone because its operator is paused, and when another is to make up for it.
//! Pure.

use std::mem;

/// Whether a parent is owed a run.
#[derive(Debug, Default)]
pub(super) struct Debt {
    is_owed: bool,
    /// Whether the operator was resumed during the run that is under way, which may have begun before.
    was_resumed: bool,
}

impl Debt {
    /// Whether the last run left something undone, and is to wait with it.
    pub(super) fn is_owed(&self) -> bool {
        self.is_owed
    }

    /// A run begins: it sees what was ordered before.
    pub(super) fn begin(&mut self) {
        self.was_resumed = false;
    }

    /// A run has ended. Returns whether it left undone what may be done by now.
    pub(super) fn end(&mut self, has_left_undone: bool) -> bool {
        let is_due = mem::take(&mut self.was_resumed) && has_left_undone;
        self.is_owed = has_left_undone && !is_due;
        is_due
    }

    /// The operator is no longer paused. Returns whether a run is to come: until then the parent waits
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
        let mut debt = Debt::default();
        assert!(!debt.resume(false), "nothing was left undone");
        debt.begin();
        assert!(!debt.end(true) && debt.is_owed());
        assert!(debt.resume(false) && !debt.is_owed());
        assert!(!debt.resume(false), "it comes already");
    }

    #[test]
    fn a_run_that_began_before_the_end_of_the_pause_is_made_up_for() {
        let mut debt = Debt::default();
        debt.begin();
        assert!(debt.resume(true));
        assert!(debt.end(true) && !debt.is_owed());
        // One that saw the end, or another pause, owes what it says.
        assert!(debt.resume(true));
        debt.begin();
        assert!(!debt.end(true) && debt.is_owed());
        assert!(debt.resume(true));
        assert!(!debt.end(false) && !debt.is_owed(), "it did all");
        assert!(!debt.end(true) && debt.is_owed(), "of a pause that began later");
    }
}
