//! What operators wrote to objects that are cached already: the caches keep what the registered operators write, and of
//! objects that were read before one of them was registered it is missing.

use std::collections::BTreeSet;

use super::members::{Members, Needs};
use crate::object::K8sType;

impl Members {
    /// Keeps what operators write in the objects that are cached from now on. Returns the types of which objects may be
    /// cached without what the newcomers have written earlier.
    pub(super) fn keep_managers<'a>(
        &self,
        newcomers: impl Iterator<Item = &'a Needs>,
    ) -> BTreeSet<K8sType> {
        let mut reread = BTreeSet::new();
        for needs in newcomers {
            let config = &needs.config;
            let managers = &self.wiring.managers;
            let others = config.predecessor.field_managers.iter().chain(&config.beside);
            let is_late = managers.keep(others.chain([&config.name]).cloned());
            if managers.keep_labels([&config.labels.parent_uid]) || is_late {
                reread.extend(needs.types());
            }
        }
        reread
    }
}
