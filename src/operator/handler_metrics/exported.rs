//! Metrics as they are exported: a copy of one moment.

use std::sync::atomic::Ordering::Relaxed;

use super::{family::Family, kind::MetricKind, values::Value};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExportedFamily {
    /// Without the prefix.
    pub(crate) name: String,
    pub(crate) help: String,
    pub(crate) kind: MetricKind,
    pub(crate) series: Vec<ExportedSeries>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExportedSeries {
    /// Names and values.
    pub(crate) labels: Vec<(String, String)>,
    /// The number, or the sum of a histogram.
    pub(crate) number: f64,
    /// How many numbers a histogram observed.
    pub(crate) count: u64,
    /// The buckets of a histogram: the upper limit, and how many numbers are not above it.
    pub(crate) buckets: Vec<(f64, u64)>,
}

impl ExportedFamily {
    pub(super) fn of(name: &str, family: &Family) -> Self {
        let Family { kind, help, labels, series, limits: _, has_overflowed: _ } = family;
        let of = |(values, value): (&Vec<String>, &std::sync::Arc<Value>)| {
            let labels = labels.iter().cloned().zip(values.iter().cloned()).collect();
            ExportedSeries::of(labels, value)
        };
        let series = series.iter().map(of).collect();
        Self { name: name.to_owned(), help: help.clone(), kind: *kind, series }
    }
}

impl ExportedSeries {
    fn of(labels: Vec<(String, String)>, value: &Value) -> Self {
        let mut below = 0;
        let mut all = value.counts.iter().map(|count| {
            below += count.load(Relaxed);
            below
        });
        let buckets: Vec<_> = value.limits.iter().copied().zip(all.by_ref()).collect();
        let count = all.last().unwrap_or_default();
        Self { labels, number: value.number.get(), count, buckets }
    }
}
