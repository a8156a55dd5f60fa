//! What cannot be now, because of somebody else or until a person allows it, or is otherwise than it was
//! applied. A counter tells that only once of what stays so.

use std::fmt;

use prometheus::IntGauge;

use super::Metrics;
use crate::{object::K8sType, operator::OperatorName};

/// Children of a parent that are counted until this is dropped.
pub struct Standing {
    gauge: IntGauge,
    children: i64,
}

impl Metrics {
    /// A child of this type is in conflict from now on.
    #[must_use = "what is dropped at once was never counted"]
    pub fn in_conflict(&self, operator: &OperatorName, ty: &K8sType) -> Standing {
        let labels = [operator.as_str(), &self.type_label(ty)];
        Standing::new(self.families().in_conflict.with_label_values(&labels), 1)
    }

    /// A child of this type is from now on what the server makes of what was applied.
    #[must_use = "what is dropped at once was never counted"]
    pub fn altered(&self, operator: &OperatorName, ty: &K8sType) -> Standing {
        let labels = [operator.as_str(), &self.type_label(ty)];
        Standing::new(self.families().altered.with_label_values(&labels), 1)
    }

    /// So many children are to be deleted from now on, and are not because they are too many.
    #[must_use = "what is dropped at once was never counted"]
    pub fn held(&self, operator: &OperatorName, children: usize) -> Standing {
        let gauge = self.families().held.with_label_values(&[operator.as_str()]);
        Standing::new(gauge, i64::try_from(children).unwrap_or(i64::MAX))
    }
}

impl Standing {
    fn new(gauge: IntGauge, children: i64) -> Self {
        gauge.add(children);
        Self { gauge, children }
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.gauge.sub(self.children);
    }
}

impl fmt::Debug for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Standing").field("children", &self.children).finish_non_exhaustive()
    }
}
