//! Which children cannot be now, because of somebody else. A counter tells that only once of what stays
//! so.

use std::fmt;

use prometheus::IntGauge;

use super::Metrics;
use crate::{object::K8sType, operator::OperatorName};

/// A child in conflict, counted until this is dropped.
pub struct InConflict(IntGauge);

impl Metrics {
    /// A child of this type is in conflict from now on.
    #[must_use = "what is dropped at once was never counted"]
    pub fn in_conflict(&self, operator: &OperatorName, ty: &K8sType) -> InConflict {
        let labels = [operator.as_str(), &self.type_label(ty)];
        let gauge = self.families().in_conflict.with_label_values(&labels);
        gauge.inc();
        InConflict(gauge)
    }
}

impl Drop for InConflict {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl fmt::Debug for InConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InConflict")
    }
}
