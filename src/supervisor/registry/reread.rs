//! Earlier writes of operators to cached objects. The caches keep the field managers of registered operators. They lack
//! the manager of a new operator in objects that were read before its registration.

use std::collections::BTreeSet;

use super::members::{Members, Needs};
use crate::object::K8sType;

impl Members {
    /// Keeps the field managers of the operators in objects that are cached from now on. Returns the types whose cached
    /// objects may lack the managers of the newcomers.
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
