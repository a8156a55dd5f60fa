//! How urgent a reconcile is. What makes it so is said by the facts, and who goes first by the queue.

/// How urgent a reconcile is; a smaller one is more urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// The parent is being deleted: somebody waits for it to go.
    Deletion,
    /// The parent itself is new or has changed: somebody waits for the effect.
    Change,
    /// A child or the parent's status changed, or an earlier reconcile has to be repeated.
    FollowUp,
    /// Nothing is known to have changed: a resync, or the first reconcile after the process started.
    Background,
}

impl Priority {
    /// Every priority, the most urgent first.
    pub const ALL: [Self; 4] = [Self::Deletion, Self::Change, Self::FollowUp, Self::Background];

    /// The priority in one word, also as a metric label.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deletion => "deletion",
            Self::Change => "change",
            Self::FollowUp => "follow-up",
            Self::Background => "background",
        }
    }

    pub(super) fn lane(self) -> usize {
        self as usize
    }
}
