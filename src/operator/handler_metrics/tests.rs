//! What handlers may count, and what is beyond.

use super::*;

const HELP: &str = "Help.";

fn counted(metrics: &HandlerMetrics, name: &str, labels: &[(&str, &str)]) {
    metrics.counter(name, HELP, labels).unwrap().inc();
}

#[test]
fn a_series_is_found_by_its_labels_in_any_order() {
    let metrics = HandlerMetrics::default();
    counted(&metrics, "a_total", &[("x", "1"), ("y", "2")]);
    counted(&metrics.clone(), "a_total", &[("y", "2"), ("x", "1")]);
    counted(&metrics, "a_total", &[("x", "2"), ("y", "1")]);
    assert_eq!(metrics.value("a_total", &[("y", "2"), ("x", "1")]), Some(2.0));
    assert_eq!(metrics.value("a_total", &[("x", "2"), ("y", "1")]), Some(1.0));
    for unknown in [&[("x", "1")][..], &[("x", "1"), ("y", "1")], &[("x", "1"), ("z", "2")]] {
        assert_eq!(metrics.value("a_total", unknown), None);
    }
    assert_eq!(metrics.value("b_total", &[]), None);
}

#[test]
fn each_kind_has_its_value() {
    let metrics = HandlerMetrics::default();
    let counter = metrics.counter("a_total", HELP, &[]).unwrap();
    for by in [1.5, -1.0, f64::NAN, f64::INFINITY] {
        counter.add(by);
    }
    assert_eq!(metrics.value("a_total", &[]), Some(1.5), "it only grows");
    let gauge = metrics.gauge("b", HELP, &[]).unwrap();
    gauge.set(3.0);
    for by in [-1.0, f64::NAN] {
        gauge.add(by);
    }
    assert_eq!(metrics.value("b", &[]), Some(2.0));
    let histogram = metrics.histogram("c", HELP, &[], &[1.0, 2.0]).unwrap();
    for number in [0.5, 1.0, 1.5, 9.0, f64::NAN] {
        histogram.observe(number);
    }
    assert_eq!(metrics.value("c", &[]), Some(4.0));
    let exported = metrics.exported();
    let ExportedSeries { number, count, buckets, .. } = &exported[2].series[0];
    assert_eq!((*number, *count, buckets.as_slice()), (12.0, 4, &[(1.0, 2), (2.0, 3)][..]));
}

#[test]
fn a_removed_series_is_gone() {
    let metrics = HandlerMetrics::default();
    counted(&metrics, "a_total", &[("x", "1")]);
    assert!(!metrics.remove("a_total", &[]) && !metrics.remove("b_total", &[]));
    assert!(metrics.remove("a_total", &[("x", "1")]) && !metrics.remove("a_total", &[("x", "1")]));
    assert_eq!(metrics.value("a_total", &[("x", "1")]), None);
}

#[test]
fn an_invalid_metric_is_an_error_that_says_what_to_do() {
    let metrics = HandlerMetrics::default();
    counted(&metrics, "a_total", &[("x", "1")]);
    let counter = |name: &str, labels: &[(&str, &str)]| {
        metrics.counter(name, HELP, labels).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let gauge = |name: &str| metrics.gauge(name, HELP, &[]).unwrap_err().to_string();
    let histogram = |name: &str, buckets: &[f64]| {
        metrics.histogram(name, HELP, &[], buckets).err().map(|error| error.to_string())
    };
    let (long, many) = ("a".repeat(65), ["a", "b", "c", "d", "e", "f", "g", "h", "i"]);
    for invalid in ["", "Backups_total", "1_total", "_total", "a-b_total", "ä_total", &long] {
        assert!(counter(invalid, &[]).contains("such as \"backups_total\""), "{invalid}");
    }
    assert!(counter("backups", &[]).contains("only and all counters end in `_total`"));
    for misleading in ["b_total", "b_sum", "b_count", "b_bucket"] {
        assert!(gauge(misleading).contains("misleads"), "{misleading}");
    }
    for label in ["", "Kind", "operator", "le", "__name__", &long] {
        let error = counter("b_total", &[(label, "1")]);
        assert!(error.contains("the label") && error.contains("\"b_total\""), "{error}");
    }
    assert!(counter("b_total", &[("x", "1"), ("x", "2")]).contains("each is used once"));
    assert!(counter("b_total", &many.map(|label| (label, "1"))).contains("at most 8"));
    assert!(counter("a_total", &[("y", "1")]).contains("has the labels [x]: use the same names"));
    metrics.gauge("g", HELP, &[]).unwrap();
    assert_eq!(
        histogram("g", &[1.0]).unwrap(),
        "the metric \"g\" is a gauge already, so it cannot be a histogram: choose another name"
    );
    for buckets in [&[][..], &[1.0, 1.0], &[2.0, 1.0], &[f64::NAN], &[f64::INFINITY], &[1.0; 31]] {
        assert!(histogram("h", buckets).unwrap().contains("the buckets of the histogram \"h\""));
    }
    assert_eq!(histogram("h", &[1.0]), None);
    assert!(histogram("h", &[2.0]).unwrap().contains("the same ones everywhere"));
    assert_eq!(metrics.exported().len(), 3, "what is invalid takes no place");
}

#[test]
fn series_beyond_the_limit_are_counted_together_and_named_once() {
    let metrics = HandlerMetrics::default();
    for number in 0..103 {
        counted(&metrics, "a_total", &[("x", &number.to_string())]);
        counted(&metrics, "a_total", &[("x", "0")]);
    }
    assert_eq!(metrics.exported()[0].series.len(), 101);
    assert_eq!(metrics.value("a_total", &[("x", "(overflow)")]), Some(3.0));
    assert_eq!(metrics.value("a_total", &[("x", "0")]), Some(104.0));
    let Overflow { updates, news } = metrics.take_overflow();
    assert_eq!((updates, news.len()), (3, 1));
    assert!(news[0].contains("\"a_total\" of the handler has more than 100 series"), "{news:?}");
    counted(&metrics, "a_total", &[("x", "another")]);
    assert_eq!(metrics.take_overflow(), Overflow { updates: 1, news: Vec::new() });
    assert_eq!(metrics.take_overflow(), Overflow::default());
}

#[test]
fn metrics_beyond_the_limit_are_not_shown_and_named_once() {
    let metrics = HandlerMetrics::default();
    for number in 0..52 {
        counted(&metrics, &format!("a{number}_total"), &[]);
    }
    counted(&metrics, "a0_total", &[]);
    assert_eq!(metrics.exported().len(), 50);
    let Overflow { updates, news } = metrics.take_overflow();
    assert_eq!((updates, news.len()), (2, 1));
    assert!(news[0].contains("more than 50 metrics, so \"a50_total\""), "{news:?}");
}

#[test]
fn long_texts_are_cut() {
    let metrics = HandlerMetrics::default();
    let long = "ä".repeat(1000);
    metrics.gauge("a", &long, &[("x", &long)]).unwrap().set(1.0);
    let exported = metrics.exported();
    assert_eq!(exported[0].help.len(), 500);
    assert_eq!(exported[0].series[0].labels[0].1.len(), 128);
}
