//! The metrics that handlers count themselves, as `operetta_custom_<name>` with a label for the operator.
//!
//! Operators do not share their names: where two have a metric of one name and of different kinds, that of the
//! operator that is first by name is shown.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::{Mutex, MutexGuard, PoisonError},
};

use prometheus::proto::{self, LabelPair, Metric, MetricFamily, MetricType};

use crate::operator::{
    ExportedFamily, ExportedSeries, HandlerMetrics, MetricKind, OperatorName, PREFIX,
};

#[derive(Default)]
pub(super) struct CustomMetrics(Mutex<BTreeMap<OperatorName, HandlerMetrics>>);

impl CustomMetrics {
    /// Shows the metrics of another handler, in place of an earlier one of that name.
    pub(super) fn add(&self, operator: &OperatorName, metrics: HandlerMetrics) {
        self.operators().insert(operator.clone(), metrics);
    }

    pub(super) fn remove(&self, operator: &OperatorName) {
        self.operators().remove(operator);
    }

    pub(super) fn gather(&self) -> Vec<MetricFamily> {
        let mut families = BTreeMap::new();
        for (operator, metrics) in &*self.operators() {
            for family in metrics.exported() {
                add(&mut families, operator, family);
            }
        }
        families.into_values().filter(|family| !family.get_metric().is_empty()).collect()
    }

    fn operators(&self) -> MutexGuard<'_, BTreeMap<OperatorName, HandlerMetrics>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add(
    families: &mut BTreeMap<String, MetricFamily>,
    operator: &OperatorName,
    family: ExportedFamily,
) {
    let ExportedFamily { name, help, kind, series } = family;
    let ty = match kind {
        MetricKind::Counter => MetricType::COUNTER,
        MetricKind::Gauge => MetricType::GAUGE,
        MetricKind::Histogram => MetricType::HISTOGRAM,
    };
    let shown = match families.entry(name) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(free) => {
            let mut family = MetricFamily::default();
            family.set_name(format!("{PREFIX}{}", free.key()));
            family.set_help(help);
            family.set_field_type(ty);
            free.insert(family)
        }
    };
    if shown.get_field_type() == ty {
        let metrics = series.into_iter().map(|series| metric(operator, kind, series));
        shown.mut_metric().extend(metrics);
    }
}

fn metric(operator: &OperatorName, kind: MetricKind, series: ExportedSeries) -> Metric {
    let ExportedSeries { labels, number, count, buckets } = series;
    let labels = labels.into_iter().chain([("operator".to_owned(), operator.to_string())]);
    let mut metric = Metric::from_label(labels.map(label).collect());
    match kind {
        MetricKind::Counter => {
            let mut counter = proto::Counter::default();
            counter.set_value(number);
            metric.set_counter(counter);
        }
        MetricKind::Gauge => {
            let mut gauge = proto::Gauge::default();
            gauge.set_value(number);
            metric.set_gauge(gauge);
        }
        MetricKind::Histogram => metric.set_histogram(histogram(number, count, buckets)),
    }
    metric
}

fn histogram(sum: f64, count: u64, buckets: Vec<(f64, u64)>) -> proto::Histogram {
    let bucket = |(limit, count)| {
        let mut bucket = proto::Bucket::default();
        bucket.set_upper_bound(limit);
        bucket.set_cumulative_count(count);
        bucket
    };
    let mut histogram = proto::Histogram::default();
    histogram.set_sample_sum(sum);
    histogram.set_sample_count(count);
    histogram.set_bucket(buckets.into_iter().map(bucket).collect());
    histogram
}

fn label((name, value): (String, String)) -> LabelPair {
    let mut pair = LabelPair::default();
    pair.set_name(name);
    pair.set_value(value);
    pair
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;

    fn name(name: &str) -> OperatorName {
        OperatorName::new(name).unwrap()
    }

    fn custom(metrics: &Metrics) -> Vec<String> {
        let text = metrics.render();
        text.lines().filter(|line| line.contains(PREFIX)).map(str::to_owned).collect()
    }

    #[test]
    fn what_a_handler_counts_is_shown_until_its_operator_is_gone() {
        let metrics = Metrics::new();
        let (one, other) = (metrics.of_handler(&name("a")), metrics.of_handler(&name("b")));
        one.counter("restores_total", "Restores.", &[("source", "s\"3")]).unwrap().inc();
        one.gauge("pending", "Pending.", &[]).unwrap().set(-1.5);
        other.histogram("seconds", "Time.", &[], &[1.0, 2.5]).unwrap().observe(2.0);
        other.counter("restores_total", "Others.", &[]).unwrap().add(2.0);
        let shown = [
            "# HELP operetta_custom_pending Pending.",
            "# TYPE operetta_custom_pending gauge",
            "operetta_custom_pending{operator=\"a\"} -1.5",
            "# HELP operetta_custom_restores_total Restores.",
            "# TYPE operetta_custom_restores_total counter",
            "operetta_custom_restores_total{source=\"s\\\"3\",operator=\"a\"} 1",
            "operetta_custom_restores_total{operator=\"b\"} 2",
            "# HELP operetta_custom_seconds Time.",
            "# TYPE operetta_custom_seconds histogram",
            "operetta_custom_seconds_bucket{operator=\"b\",le=\"1\"} 0",
            "operetta_custom_seconds_bucket{operator=\"b\",le=\"2.5\"} 1",
            "operetta_custom_seconds_bucket{operator=\"b\",le=\"+Inf\"} 1",
            "operetta_custom_seconds_sum{operator=\"b\"} 2",
            "operetta_custom_seconds_count{operator=\"b\"} 1",
        ];
        assert_eq!(custom(&metrics), shown);
        metrics.operator_removed(&name("a"));
        one.counter("restores_total", "Restores.", &[("source", "s3")]).unwrap().inc();
        assert_eq!(custom(&metrics).len(), 10);
        metrics.operator_removed(&name("b"));
        assert_eq!(custom(&metrics), [""; 0]);
    }

    #[test]
    fn operators_cannot_spoil_the_metrics_of_each_other() {
        let metrics = Metrics::new();
        let (one, other) = (metrics.of_handler(&name("a")), metrics.of_handler(&name("b")));
        other.gauge("size", "Bytes.", &[]).unwrap().set(7.0);
        one.histogram("size", "Sizes.", &[], &[1.0]).unwrap().observe(3.0);
        assert!(custom(&metrics).iter().all(|line| !line.contains("operator=\"b\"")));
        assert_eq!(other.value("size", &[]), Some(7.0), "the handler does not notice");
        one.remove("size", &[]);
        assert_eq!(custom(&metrics), [""; 0], "no family without a series");
    }

    #[test]
    fn updates_beyond_a_limit_are_counted() {
        let metrics = Metrics::new();
        let handler = metrics.of_handler(&name("a"));
        for number in 0..102 {
            let labels = [("x", &*number.to_string())];
            handler.counter("a_total", "Help.", &labels).unwrap().inc();
        }
        assert_eq!(metrics.overflowed(&name("a"), &handler).len(), 1);
        let line = "operetta_handler_metric_overflows_total{operator=\"a\"} 2";
        assert!(metrics.render().lines().any(|shown| shown == line));
    }
}
