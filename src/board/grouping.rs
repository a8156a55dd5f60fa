//! Shows the group with which the process shares its parents.

use super::{Board, Group};

impl Board {
    pub(crate) fn show_group(&self, group: Group) {
        self.write().group = Some(group);
    }

    /// The group; none if the process shares its parents with nobody.
    pub(crate) fn group(&self) -> Option<Group> {
        self.read().group.clone()
    }
}
