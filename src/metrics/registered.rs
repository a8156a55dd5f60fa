//! Initializes counters with zero: Prometheus sees no increase from an absent series to one, so an
//! alert on a single event would never fire.
//!
//! Counters whose labels are not known in advance are excluded: status codes and field managers.

use super::{
    counting::Metrics,
    family::{RESTARTED, RESTARTS},
};
use crate::{
    history::Outcome,
    object::K8sType,
    operator::{OperatorConfig, OperatorName},
    plan::FlappingReason,
};

impl Metrics {
    /// Initializes the metrics of an operator with zero.
    pub fn operator_registered(&self, operator: &OperatorName, config: &OperatorConfig) {
        let (families, operator) = (self.families(), operator.as_str());
        families.in_flight.with_label_values(&[operator]).set(0);
        families.overdue.with_label_values(&[operator]).set(0);
        families.held.with_label_values(&[operator]).add(0);
        for counter in [
            &families.backoffs,
            &families.panics,
            &families.timeouts,
            &families.status_writes,
            &families.unchanged,
            &families.deletions_held,
        ] {
            counter.with_label_values(&[operator]).inc_by(0);
        }
        for actor in RESTARTED {
            families.restarts.with_label_values(&[operator, actor]).inc_by(0);
        }
        for outcome in Outcome::NAMES {
            families.reconciles.with_label_values(&[operator, outcome]).inc_by(0);
        }
        for reason in FlappingReason::ALL {
            families.flapping.with_label_values(&[operator, reason.name()]).inc_by(0);
        }
        for child in &config.children {
            let labels = [operator, &self.type_label(&child.ty)];
            families.conflicts.with_label_values(&labels).inc_by(0);
            families.noop_writes.with_label_values(&labels).inc_by(0);
            families.in_conflict.with_label_values(&labels).add(0);
            families.altered.with_label_values(&labels).add(0);
        }
    }

    /// Initializes the metrics of a type with zero.
    pub fn type_registered(&self, ty: &K8sType) {
        let (families, resource) = (self.families(), self.type_label(ty));
        for counter in [&families.watch_events, &families.undecodable, &families.version_regressed]
        {
            counter.with_label_values(&[&resource]).inc_by(0);
        }
        for reason in RESTARTS {
            families.watch_restarts.with_label_values(&[resource.as_str(), reason]).inc_by(0);
        }
    }
}
