//! Which operators of the process answer for the same parents.

use std::sync::{Arc, PoisonError, RwLock, Weak};

use crate::{object::K8sType, operator::OperatorName, run::Settings};

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

    /// The other operators for parents of a type.
    pub(super) fn others(&self, name: &OperatorName, ty: &K8sType) -> Vec<Arc<Settings>> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let is_other = |it: &Arc<Settings>| it.name() != name && it.is_for(ty);
        all.iter().filter_map(Weak::upgrade).filter(is_other).collect()
    }
}
