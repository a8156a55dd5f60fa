//! Deletions that wait for an approval.

use std::fmt;

use crate::plan::{ChildId, HeldDeletions};

/// Held deletions, in the words for users.
#[derive(Debug, Clone)]
pub(crate) struct Unapproved {
    pub(crate) held: HeldDeletions,
    pub(crate) children: Vec<ChildId>,
    /// How many there are, and which limit they exceed.
    pub(crate) why: String,
    /// The command that allows them.
    pub(crate) approve: String,
}

impl fmt::Display for Unapproved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; to allow it: {}", self.why, self.approve)
    }
}
