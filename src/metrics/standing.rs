//! Gauges of lasting conditions of children: in conflict, altered by the server, deletion held. A
//! counter would show only their start.

use prometheus::IntGauge;

use super::Metrics;
use crate::{object::K8sType, operator::OperatorName};

/// Children of a parent that are counted until this is dropped.
pub(crate) struct Standing {
    gauge: IntGauge,
    children: i64,
}

impl Metrics {
    /// Counts a child of this type that is in conflict.
    #[must_use = "the child is counted until this is dropped"]
    pub(crate) fn in_conflict(&self, operator: &OperatorName, ty: &K8sType) -> Standing {
        let labels = [operator.as_str(), &self.type_label(ty)];
        Standing::new(self.families().in_conflict.with_label_values(&labels), 1)
    }

    /// Counts a child of this type that the server altered.
    #[must_use = "the child is counted until this is dropped"]
    pub(crate) fn altered(&self, operator: &OperatorName, ty: &K8sType) -> Standing {
        let labels = [operator.as_str(), &self.type_label(ty)];
        Standing::new(self.families().altered.with_label_values(&labels), 1)
    }

    /// Counts children whose deletion is held because they are too many.
    #[must_use = "the children are counted until this is dropped"]
    pub(crate) fn held(&self, operator: &OperatorName, children: usize) -> Standing {
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
