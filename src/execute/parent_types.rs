//! Which operators of the process answer for the same parents.

use std::sync::{Arc, PoisonError, RwLock, Weak};

use crate::{
    object::Object,
    run::{Settings, Sibling},
};

/// The settings of all operators of a process. Cheap to clone; an operator leaves it with its last
/// context.
#[derive(Debug, Clone, Default)]
pub(crate) struct ParentTypes(Arc<RwLock<Vec<Weak<Settings>>>>);

impl ParentTypes {
    pub(super) fn add(&self, settings: &Arc<Settings>) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known.strong_count() > 0);
        all.push(Arc::downgrade(settings));
    }

    /// The other operators of a parent.
    pub(super) fn siblings(&self, settings: &Settings, parent: &Object) -> Vec<Sibling> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let others = all.iter().filter_map(Weak::upgrade);
        let others = others.filter(|it| it.name() != settings.name());
        others.filter_map(|it| it.as_sibling(parent)).collect()
    }
}
