//! One metric with its series.

use std::{collections::BTreeMap, sync::Arc};

use super::{MetricError, kind::MetricKind, values::Value};

/// The most series of a metric.
pub(super) const MAX_SERIES: usize = 100;
/// The value of all labels of the series that counts what is beyond.
pub(super) const OVERFLOW: &str = "(overflow)";

/// A metric. Its series have the same labels.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) kind: MetricKind,
    pub(super) help: String,
    /// The names of the labels, in their order.
    pub(super) labels: Vec<String>,
    /// The buckets of a histogram.
    pub(super) limits: Box<[f64]>,
    /// By the values of the labels.
    pub(super) series: BTreeMap<Vec<String>, Arc<Value>>,
    /// Whether a series was beyond the limit.
    pub(super) has_overflowed: bool,
}

impl Family {
    /// A metric without series.
    pub(super) fn new(kind: MetricKind, help: String, labels: Vec<String>, limits: &[f64]) -> Self {
        let (limits, series, has_overflowed) = (limits.into(), BTreeMap::new(), false);
        Self { kind, help, labels, limits, series, has_overflowed }
    }

    /// Checks that it is used as it was first.
    pub(super) fn check(
        &self,
        name: &str,
        kind: MetricKind,
        labels: &[String],
        limits: &[f64],
    ) -> Result<(), MetricError> {
        if self.kind != kind {
            return Err(MetricError::other_kind(name, self.kind, kind));
        }
        if self.labels != labels {
            let known = self.labels.join(", ");
            return Err(MetricError::OtherLabels { name: name.to_owned(), known });
        }
        if *self.limits != *limits {
            return Err(MetricError::Buckets(name.to_owned()));
        }
        Ok(())
    }

    /// The series with these values, or that of all beyond the limit, and whether it is that.
    pub(super) fn series(&mut self, values: Vec<String>) -> (Arc<Value>, bool) {
        let is_beyond = self.series.len() >= MAX_SERIES && !self.series.contains_key(&values);
        let overflow = || self.labels.iter().map(|_| OVERFLOW.to_owned()).collect();
        let values = if is_beyond { overflow() } else { values };
        let empty = || Arc::new(Value::new(&self.limits));
        (self.series.entry(values).or_insert_with(empty).clone(), is_beyond)
    }
}
