//! The text of `OpenMetrics` 1.0 (<https://prometheus.io/docs/specs/om/open_metrics_spec/>), from what was gathered for
//! the text of Prometheus. It shows exemplars, and no time at which a series was created.

use std::{borrow::Cow, collections::HashSet};

use prometheus::proto::{Histogram, LabelPair, Metric, MetricFamily, MetricType};

use super::exemplars::Exemplars;

/// The media type.
pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The units that a name may end with.
const UNITS: [&str; 2] = ["seconds", "bytes"];

const TOTAL: &str = "_total";

/// The text of these families.
pub(super) fn encode(families: &[MetricFamily], exemplars: &Exemplars) -> String {
    let is_counter = |it: &&MetricFamily| it.get_field_type() == MetricType::COUNTER;
    let others = families.iter().filter(|it| !is_counter(it));
    let taken: HashSet<&str> = others.map(MetricFamily::name).collect();
    let mut text = Text { shown: String::new(), exemplars };
    for family in families {
        text.family(family, &taken);
    }
    text.shown.push_str("# EOF\n");
    text.shown
}

struct Text<'a> {
    shown: String,
    exemplars: &'a Exemplars,
}

impl Text<'_> {
    fn family(&mut self, family: &MetricFamily, taken: &HashSet<&str>) {
        match family.get_field_type() {
            MetricType::COUNTER => self.counters(family, taken),
            MetricType::GAUGE => self.gauges(family),
            MetricType::HISTOGRAM => self.histograms(family),
            // Nothing makes these.
            MetricType::SUMMARY | MetricType::UNTYPED => {}
        }
    }

    fn counters(&mut self, family: &MetricFamily, taken: &HashSet<&str>) {
        let whole = family.name();
        let name = whole.strip_suffix(TOTAL).unwrap_or(whole);
        // Two families cannot have one name: this one then has the name of its samples, which no counter can have.
        let is_taken = taken.contains(name);
        let (name, kind, suffix) =
            if is_taken { (whole, "unknown", "") } else { (name, "counter", TOTAL) };
        self.header(name, kind, family.help());
        for metric in family.get_metric() {
            let labels = metric.get_label();
            self.sample((name, suffix), labels, &number(metric.get_counter().get_value()));
            if !is_taken {
                self.exemplar(whole, labels, None);
            }
            self.end();
        }
    }

    fn gauges(&mut self, family: &MetricFamily) {
        let name = family.name();
        self.header(name, "gauge", family.help());
        for metric in family.get_metric() {
            let value = number(metric.get_gauge().get_value());
            self.sample((name, ""), metric.get_label(), &value);
            self.end();
        }
    }

    fn histograms(&mut self, family: &MetricFamily) {
        let name = family.name();
        self.header(name, "histogram", family.help());
        for metric in family.get_metric() {
            self.histogram(name, metric);
        }
    }

    fn header(&mut self, name: &str, kind: &str, help: &str) {
        self.put(&["# TYPE ", name, " ", kind, "\n"]);
        if let Some(unit) = unit(name) {
            self.put(&["# UNIT ", name, " ", unit, "\n"]);
        }
        if !help.is_empty() {
            self.put(&["# HELP ", name, " ", &escaped(help), "\n"]);
        }
    }

    fn histogram(&mut self, name: &str, metric: &Metric) {
        let (histogram, labels) = (metric.get_histogram(), metric.get_label());
        let buckets = histogram.get_bucket().iter();
        let limited = buckets.map(|it| (it.upper_bound(), it.cumulative_count()));
        let limited = limited.filter(|(limit, _)| limit.is_finite());
        for (limit, count) in limited.chain([(f64::INFINITY, histogram.get_sample_count())]) {
            let mut labels = labels.to_vec();
            labels.push(le(limit));
            self.sample((name, "_bucket"), &labels, &count.to_string());
            self.exemplar(name, &labels, Some(limit));
            self.end();
        }
        if has_sum(histogram) {
            self.sample((name, "_sum"), labels, &number(histogram.get_sample_sum()));
            self.end();
            self.sample((name, "_count"), labels, &histogram.get_sample_count().to_string());
            self.end();
        }
    }

    /// A sample without the end of its line.
    fn sample(&mut self, (name, suffix): (&str, &str), labels: &[LabelPair], value: &str) {
        self.put(&[name, suffix]);
        let mut before = "{";
        for label in labels {
            self.put(&[before, label.name(), "=\"", &escaped(label.value()), "\""]);
            before = ",";
        }
        if !labels.is_empty() {
            self.shown.push('}');
        }
        self.put(&[" ", value]);
    }

    fn exemplar(&mut self, metric: &str, labels: &[LabelPair], limit: Option<f64>) {
        if let Some(exemplar) = self.exemplars.of(metric, labels, limit) {
            self.shown.push_str(&exemplar.shown());
        }
    }

    fn end(&mut self) {
        self.shown.push('\n');
    }

    fn put(&mut self, parts: &[&str]) {
        self.shown.extend(parts.iter().copied());
    }
}

/// A sum that may decrease is none: a histogram of negative values has neither a sum nor a count.
fn has_sum(histogram: &Histogram) -> bool {
    histogram.get_sample_sum() >= 0.0
        && histogram.get_bucket().iter().all(|bucket| bucket.upper_bound() >= 0.0)
}

/// The unit of a metric, which is the end of its name.
fn unit(name: &str) -> Option<&'static str> {
    let is_unit = |unit: &&str| name.strip_suffix(unit).is_some_and(|rest| rest.ends_with('_'));
    UNITS.into_iter().find(|unit| is_unit(unit))
}

fn le(limit: f64) -> LabelPair {
    let mut label = LabelPair::default();
    label.set_name("le".to_owned());
    label.set_value(canonical(limit));
    label
}

/// Help texts and values of labels.
fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', '"', '\n']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

fn number(value: f64) -> String {
    if value == f64::INFINITY {
        "+Inf".to_owned()
    } else if value == f64::NEG_INFINITY {
        "-Inf".to_owned()
    } else {
        value.to_string()
    }
}

/// A limit in the one form that the specification gives each number: `1.0`, `0.25`, `1e-05`, `1e+06`.
fn canonical(limit: f64) -> String {
    let scientific = format!("{limit:e}");
    match scientific.split_once('e').map(|(digits, exponent)| (digits, exponent.parse::<i32>())) {
        Some((digits, Ok(exponent))) if !(-4..6).contains(&exponent) => {
            format!("{digits}e{exponent:+03}")
        }
        Some(_) => format!("{limit:?}"),
        None => number(limit),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{metrics::Metrics, object::K8sType, operator::OperatorName};

    /// The lines of what handlers count.
    fn custom(metrics: &Metrics) -> Vec<String> {
        let text = metrics.render_openmetrics();
        text.lines().filter(|line| line.contains("_custom_")).map(str::to_owned).collect()
    }

    fn cook() -> OperatorName {
        OperatorName::new("cook").unwrap()
    }

    #[test]
    fn each_kind_has_the_names_units_and_escapes_of_openmetrics() {
        let metrics = Metrics::new();
        let handler = metrics.of_handler(&cook());
        handler.counter("meals_total", "The \"best\"\nmeals.", &[]).unwrap().add(2.0);
        handler.gauge("pot_bytes", "Size.", &[("of", "a\\b\"c\nd")]).unwrap().set(-1.5);
        handler.gauge("bytes", "No more than a unit.", &[]).unwrap().set(f64::INFINITY);
        handler.histogram("wait_seconds", "Time.", &[], &[0.5, 1.0]).unwrap().observe(0.75);
        let expected = [
            "# TYPE operetta_custom_bytes gauge",
            "# UNIT operetta_custom_bytes bytes",
            "# HELP operetta_custom_bytes No more than a unit.",
            "operetta_custom_bytes{operator=\"cook\"} +Inf",
            "# TYPE operetta_custom_meals counter",
            "# HELP operetta_custom_meals The \\\"best\\\"\\nmeals.",
            "operetta_custom_meals_total{operator=\"cook\"} 2",
            "# TYPE operetta_custom_pot_bytes gauge",
            "# UNIT operetta_custom_pot_bytes bytes",
            "# HELP operetta_custom_pot_bytes Size.",
            "operetta_custom_pot_bytes{of=\"a\\\\b\\\"c\\nd\",operator=\"cook\"} -1.5",
            "# TYPE operetta_custom_wait_seconds histogram",
            "# UNIT operetta_custom_wait_seconds seconds",
            "# HELP operetta_custom_wait_seconds Time.",
            "operetta_custom_wait_seconds_bucket{operator=\"cook\",le=\"0.5\"} 0",
            "operetta_custom_wait_seconds_bucket{operator=\"cook\",le=\"1.0\"} 1",
            "operetta_custom_wait_seconds_bucket{operator=\"cook\",le=\"+Inf\"} 1",
            "operetta_custom_wait_seconds_sum{operator=\"cook\"} 0.75",
            "operetta_custom_wait_seconds_count{operator=\"cook\"} 1",
        ];
        assert_eq!(custom(&metrics), expected);
    }

    #[test]
    fn a_counter_whose_name_another_metric_has_is_of_unknown_type() {
        let metrics = Metrics::new();
        let handler = metrics.of_handler(&cook());
        handler.counter("meals_total", "All.", &[]).unwrap().inc();
        handler.gauge("meals", "Now.", &[]).unwrap().set(1.0);
        let shown = custom(&metrics);
        for line in [
            "# TYPE operetta_custom_meals gauge",
            "# TYPE operetta_custom_meals_total unknown",
            "operetta_custom_meals_total{operator=\"cook\"} 1",
        ] {
            assert!(shown.iter().any(|it| it == line), "{line} in {shown:#?}");
        }
    }

    #[test]
    fn a_histogram_of_negative_values_has_no_sum() {
        let metrics = Metrics::new();
        let handler = metrics.of_handler(&cook());
        handler.histogram("balance", "Money.", &[], &[-1.0, 1.0]).unwrap().observe(3.0);
        let shown = custom(&metrics);
        assert!(shown.iter().any(|it| it.contains("le=\"-1.0\"")), "{shown:#?}");
        assert!(!shown.iter().any(|it| it.contains("_sum") || it.contains("_count")), "{shown:#?}");
    }

    #[test]
    fn a_limit_has_one_form() {
        for (limit, expected) in [
            (0.0, "0.0"),
            (1.0, "1.0"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (0.25, "0.25"),
            (100_000.0, "100000.0"),
            (1_000_000.0, "1e+06"),
            (-2.5, "-2.5"),
            (1e-10, "1e-10"),
            (f64::INFINITY, "+Inf"),
        ] {
            assert_eq!(canonical(limit), expected);
        }
    }

    /// The rules of the specification that a text as a whole can break.
    #[test]
    fn what_the_program_exports_follows_the_specification() {
        let metrics = Metrics::new();
        let pods = K8sType::namespaced("v1", "Pod", "pods");
        let _queue = metrics.queue(&cook());
        let _steps = metrics.steps(&cook());
        metrics.type_registered(&pods);
        metrics.api_request("get", &pods, Some(200), std::time::Duration::from_millis(7));
        let text = metrics.render_openmetrics();
        let lines = text.strip_suffix("# EOF\n").expect("an end").lines();
        let (mut families, mut of) = (BTreeSet::new(), ("", ""));
        for line in lines {
            if let Some(declared) = line.strip_prefix("# TYPE ") {
                of = declared.split_once(' ').unwrap();
                assert!(families.insert(of.0), "two families of one name: {line}");
            } else if let Some(unit) = line.strip_prefix("# UNIT ") {
                let (name, unit) = unit.split_once(' ').unwrap();
                assert!(name == of.0 && name.ends_with(&format!("_{unit}")), "{line}");
            } else if let Some(help) = line.strip_prefix("# HELP ") {
                assert_eq!(help.split_once(' ').unwrap().0, of.0, "{line}");
            } else {
                let suffix = line.strip_prefix(of.0).expect("the name of its family");
                let suffix = suffix.split(['{', ' ']).next().unwrap();
                let allowed: &[&str] = match of.1 {
                    "counter" => &["_total"],
                    "histogram" => &["_bucket", "_sum", "_count"],
                    "gauge" => &[""],
                    other => panic!("{other}: {line}"),
                };
                assert!(allowed.contains(&suffix), "{line}");
            }
        }
        assert!(families.contains("operetta_queue_wait_seconds"), "{families:?}");
        assert!(!text.contains("\n\n"), "{text}");
    }

    #[test]
    fn both_texts_have_the_same_series() {
        let metrics = Metrics::new();
        metrics.handler_panicked(&cook());
        let _queue = metrics.queue(&cook());
        let names = |text: &str| -> Vec<String> {
            let samples = text.lines().filter(|line| !line.starts_with('#'));
            samples.map(|line| line.split(['{', ' ']).next().unwrap().to_owned()).collect()
        };
        assert_eq!(names(&metrics.render()), names(&metrics.render_openmetrics()));
    }
}
