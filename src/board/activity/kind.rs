//! The kinds of entries, by which they are selected, and the shares of the memory.

/// What a line of the timeline is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ActivityKind {
    Created,
    Adopted,
    Updated,
    Recreated,
    Deleted,
    /// Others had changed or removed it, which was undone.
    Repaired,
    Held,
    Allowed,
    Released,
    Failing,
    Recovered,
    Paused,
    Resumed,
    Leader,
    Registered,
    Unregistered,
    Denied,
    Rejected,
}

/// Entries of one shelf displace each other, and none of another shelf: a burst of writes does not displace the last
/// change of the leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shelf {
    Reconciles,
    Commands,
    Denials,
}

impl ActivityKind {
    pub(crate) const ALL: [Self; 18] = [
        Self::Created,
        Self::Adopted,
        Self::Updated,
        Self::Recreated,
        Self::Deleted,
        Self::Repaired,
        Self::Held,
        Self::Allowed,
        Self::Released,
        Self::Failing,
        Self::Recovered,
        Self::Paused,
        Self::Resumed,
        Self::Leader,
        Self::Registered,
        Self::Unregistered,
        Self::Denied,
        Self::Rejected,
    ];

    /// The kind in one word.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Adopted => "adopted",
            Self::Updated => "updated",
            Self::Recreated => "recreated",
            Self::Deleted => "deleted",
            Self::Repaired => "repaired",
            Self::Held => "held",
            Self::Allowed => "allowed",
            Self::Released => "released",
            Self::Failing => "failing",
            Self::Recovered => "recovered",
            Self::Paused => "paused",
            Self::Resumed => "resumed",
            Self::Leader => "leader",
            Self::Registered => "registered",
            Self::Unregistered => "unregistered",
            Self::Denied => "denied",
            Self::Rejected => "rejected",
        }
    }

    /// From how many different entries at about the same time one line is made.
    pub(super) fn folds_from(self) -> usize {
        match self {
            Self::Registered | Self::Unregistered | Self::Denied => 2,
            // One entry already has all operators of the Lease.
            Self::Leader => usize::MAX,
            _ => 6,
        }
    }
}

impl Shelf {
    pub(crate) const ALL: [Self; 3] = [Self::Reconciles, Self::Commands, Self::Denials];

    /// What it holds, in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reconciles => "writes and failures",
            Self::Commands => "held deletions, pauses, leaders and registrations",
            Self::Denials => "denials",
        }
    }

    /// Its part of a limit, in eighths.
    pub(super) fn eighths(self) -> usize {
        match self {
            Self::Reconciles => 6,
            Self::Commands | Self::Denials => 1,
        }
    }
}
