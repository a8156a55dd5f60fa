//! What is counted of migrations to the storage version of a type.

use super::{Metrics, counting::gauge};
use crate::object::K8sType;

impl Metrics {
    /// Initializes the metrics of a type with these outcomes.
    pub(crate) fn migration_registered(&self, ty: &K8sType, outcomes: &[&str]) {
        let (families, label) = (self.families(), self.type_label(ty));
        for outcome in outcomes {
            families.migration_objects.with_label_values(&[&*label, *outcome]).inc_by(0);
        }
        self.migration_remaining(ty, 0);
    }

    /// An object was written, or not.
    pub(crate) fn migrated(&self, ty: &K8sType, outcome: &str) {
        let label = self.type_label(ty);
        self.families().migration_objects.with_label_values(&[&*label, outcome]).inc();
    }

    /// Sets about how many objects are left.
    pub(crate) fn migration_remaining(&self, ty: &K8sType, remaining: usize) {
        let label = self.type_label(ty);
        self.families().migration_remaining.with_label_values(&[&*label]).set(gauge(remaining));
    }
}
