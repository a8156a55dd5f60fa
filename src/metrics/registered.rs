//! The series of operators and types that come and go.
//!
//! Counters are initialized with zero: Prometheus sees no increase from an absent series to one, so an
//! alert on a single event would never fire.
//!
//! Counters whose labels are not known in advance are excluded: status codes and field managers. So are restarts of watches:
//! a single one is nothing to act on, and they would be seven series for each type.

use super::counting::Metrics;
use crate::{
    history::Outcome,
    object::K8sType,
    operator::{HandlerMetrics, OperatorConfig, OperatorName, Overflow},
    plan::FlappingReason,
};

impl Metrics {
    /// Initializes the metrics of an operator with zero.
    pub fn operator_registered(&self, operator: &OperatorName, config: &OperatorConfig) {
        let (families, operator) = (self.families(), operator.as_str());
        families.remove_namespaces(operator);
        families.in_flight.with_label_values(&[operator]).add(0);
        families.overdue.with_label_values(&[operator]).add(0);
        families.held.with_label_values(&[operator]).add(0);
        for counter in [
            &families.backoffs,
            &families.restarts,
            &families.panics,
            &families.timeouts,
            &families.metric_overflows,
            &families.status_writes,
            &families.unchanged,
            &families.deletions_held,
        ] {
            counter.with_label_values(&[operator]).inc_by(0);
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

    /// The metrics of the handler of an operator, without any yet.
    pub(crate) fn of_handler(&self, operator: &OperatorName) -> HandlerMetrics {
        let metrics = HandlerMetrics::default();
        self.custom().add(operator, metrics.clone());
        metrics
    }

    /// Counts what was beyond the limits of a handler, and returns what is to be logged.
    #[must_use]
    pub(crate) fn overflowed(&self, operator: &OperatorName, of: &HandlerMetrics) -> Vec<String> {
        let Overflow { updates, news } = of.take_overflow();
        if updates > 0 {
            let counter = &self.families().metric_overflows;
            counter.with_label_values(&[operator.as_str()]).inc_by(updates);
        }
        news
    }

    /// Removes the series of an operator that is gone.
    pub(crate) fn operator_removed(&self, name: &OperatorName) {
        let (families, operator) = (self.families(), name.as_str());
        self.custom().remove(name);
        self.exemplars().remove(operator);
        families.remove(&[("operator", operator)]);
        for actor in ["operator", "reconciler"] {
            families.remove(&[("actor", actor), ("of", operator)]);
        }
    }

    /// Removes the series of a type that nothing watches any more.
    pub(crate) fn type_removed(&self, ty: &K8sType) {
        let (families, resource) = (self.families(), self.type_label(ty));
        families.remove(&[("type", &resource)]);
        for actor in ["reflector", "related"] {
            families.remove(&[("actor", actor), ("of", &resource)]);
        }
        self.forget_label(ty);
    }

    /// Removes the series of an election that is over.
    pub(crate) fn election_ended(&self, lease: &str) {
        self.families().remove(&[("lease", lease)]);
        let name = lease.rsplit('/').next().unwrap_or(lease);
        self.families().remove(&[("actor", "elector"), ("of", name)]);
    }

    /// Initializes the metrics of a type with zero.
    pub fn type_registered(&self, ty: &K8sType) {
        let (families, resource) = (self.families(), self.type_label(ty));
        for counter in [&families.watch_events, &families.undecodable, &families.version_regressed]
        {
            counter.with_label_values(&[&resource]).inc_by(0);
        }
    }
}
