//! The priority of a reconcile. Triggers determine it; the queue orders by it.

/// The priority of a reconcile; smaller is more urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// The parent is being deleted: the user waits for it.
    Deletion,
    /// The parent itself is new or has changed: the user waits for the effect.
    Change,
    /// A child or the parent's status changed, or a reconcile is repeated.
    FollowUp,
    /// No change of the parent or its children is known: a resync, a change of a related object, or the first
    /// reconcile after the start of the process.
    Background,
}

impl Priority {
    /// Every priority, the most urgent first.
    pub(crate) const ALL: [Self; 4] =
        [Self::Deletion, Self::Change, Self::FollowUp, Self::Background];

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
