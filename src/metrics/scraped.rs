//! Gauges that are set at each scrape, from the board.

use std::time::{SystemTime, UNIX_EPOCH};

use super::counting::{Metrics, gauge};
use crate::{
    object::K8sType,
    operator::OperatorName,
    plan::{UndeclaredField, WantedBy},
};

#[derive(Debug, Clone, Copy)]
pub(crate) struct CacheGauges {
    pub(crate) objects: usize,
    /// The bytes of their JSON.
    pub(crate) bytes: usize,
    /// How many cannot be decoded and are not cached.
    pub(crate) undecodable: usize,
    /// Whether the first list was complete.
    pub(crate) is_synced: bool,
    /// When the server last sent something.
    pub(crate) last_event: Option<SystemTime>,
}

impl Metrics {
    /// Sets the gauges of the cache of a type.
    pub(crate) fn cache(&self, ty: &K8sType, now: CacheGauges) {
        let CacheGauges { objects, bytes, undecodable, is_synced, last_event } = now;
        let (families, resource) = (self.families(), self.type_label(ty));
        let labels = &[&resource];
        families.cache_objects.with_label_values(labels).set(gauge(objects));
        families.cache_bytes.with_label_values(labels).set(gauge(bytes));
        families.cache_undecodable.with_label_values(labels).set(gauge(undecodable));
        families.cache_synced.with_label_values(labels).set(i64::from(is_synced));
        if let Some(since) = last_event.and_then(|at| at.duration_since(UNIX_EPOCH).ok()) {
            families.last_event.with_label_values(labels).set(since.as_secs_f64());
        }
    }

    /// Sets whether an operator can read all its types in one of its namespaces.
    pub(crate) fn namespace_up(&self, operator: &OperatorName, (namespace, is_up): (&str, bool)) {
        let labels = [operator.as_str(), namespace];
        self.families().namespace_up.with_label_values(&labels).set(i64::from(is_up));
    }

    /// Sets whether the related objects of a type can be read and are up to date.
    pub(crate) fn related_synced(&self, ty: &K8sType, is_synced: bool) {
        let gauge = self.families().related_synced.with_label_values(&[&self.type_label(ty)]);
        gauge.set(i64::from(is_synced));
    }

    /// Sets how many related objects of a type are cached, and their bytes of JSON.
    pub(crate) fn related(&self, ty: &K8sType, (objects, bytes): (usize, usize)) {
        let (families, resource) = (self.families(), self.type_label(ty));
        let labels = &[&resource];
        families.related_objects.with_label_values(labels).set(gauge(objects));
        families.related_bytes.with_label_values(labels).set(gauge(bytes));
    }

    /// Sets how many parents of an operator are in a phase.
    pub(crate) fn parents(&self, operator: &OperatorName, phase: &str, parents: usize) {
        let labels = [operator.as_str(), phase];
        self.families().parents.with_label_values(&labels).set(gauge(parents));
    }

    /// Sets whether an operator is neither starting nor degraded.
    pub(crate) fn operator_up(&self, operator: &OperatorName, is_up: bool) {
        self.families().operator_up.with_label_values(&[operator.as_str()]).set(i64::from(is_up));
    }

    /// Sets whether a user has paused an operator.
    pub(crate) fn operator_paused(&self, operator: &OperatorName, is_paused: bool) {
        let gauge = self.families().operator_paused.with_label_values(&[operator.as_str()]);
        gauge.set(i64::from(is_paused));
    }

    /// Sets since when the operator, or the longest paused of its parents, is paused.
    pub(crate) fn oldest_pause(&self, operator: &OperatorName, since: Option<SystemTime>) {
        let (pauses, labels) = (&self.families().oldest_pause, [operator.as_str()]);
        match since.and_then(|at| at.duration_since(UNIX_EPOCH).ok()) {
            Some(since) => pauses.with_label_values(&labels).set(since.as_secs_f64()),
            // It has no value that would be right; an error says that there is no series.
            None => drop(pauses.remove_label_values(&labels)),
        }
    }

    /// Sets how many status fields the parent type of an operator does not declare.
    pub(crate) fn undeclared(&self, operator: &OperatorName, fields: &[UndeclaredField]) {
        for wanted_by in WantedBy::ALL {
            let labels = [operator.as_str(), wanted_by.name()];
            let found = fields.iter().filter(|field| field.wanted_by == wanted_by).count();
            self.families().undeclared.with_label_values(&labels).set(gauge(found));
        }
    }
}
