//! The dashboard, the alerts and the table of metrics name exported metrics, and every metric is in the table and on the
//! dashboard. Their expressions are parsed by `tests/monitoring`.

use std::{fs, path::Path};

use operetta::testkit::internals::metrics::{MetricDescription, Metrics};

#[test]
fn the_dashboard_and_the_alerts_name_only_exported_metrics() {
    let metrics = Metrics::new();
    let exported: Vec<&str> = metrics.described().iter().map(|it| it.name.as_str()).collect();
    for path in ["deploy/grafana/operetta.json", "deploy/prometheus/rules.yaml"] {
        let text = read(path);
        let words = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        let names: Vec<&str> = words.filter(|word| word.starts_with("operetta_")).collect();
        let is_unknown = |name: &&&str| !exported.contains(&without_suffix(name));
        let unknown: Vec<_> = names.iter().filter(is_unknown).collect();
        assert!(names.len() > 10 && unknown.is_empty(), "{path}: {unknown:?}");
    }
}

/// The name of the histogram whose series this is.
fn without_suffix(series: &str) -> &str {
    ["_bucket", "_sum", "_count"].iter().find_map(|it| series.strip_suffix(it)).unwrap_or(series)
}

/// Who is woken by an alert finds what it means, how to look, and what to do.
#[test]
fn every_alert_leads_to_its_section_of_the_book() {
    let rules = read("deploy/prometheus/rules.yaml");
    let after = |line: &str, key: &str| line.trim().strip_prefix(key).map(str::to_owned);
    let alerts: Vec<String> = rules.lines().filter_map(|it| after(it, "- alert: ")).collect();
    let links: Vec<String> = rules.lines().filter_map(|it| after(it, "runbook_url: ")).collect();
    let link = |alert: &String| {
        format!("https://operetta.example/book/alerts.html#{}", alert.to_lowercase())
    };
    assert_eq!(links, alerts.iter().map(link).collect::<Vec<_>>());
    let page = read("docs/alerts.md");
    let sections: Vec<&str> = page.split("\n## ").skip(1).collect();
    let titles: Vec<&str> = sections.iter().filter_map(|it| it.lines().next()).collect();
    assert_eq!(titles, alerts, "in the order of the rules");
    for section in sections {
        let parts = ["**Means.** ", "**Look.** ", "**Do.** "];
        assert!(parts.iter().all(|part| section.contains(part)), "{section}");
    }
}

#[test]
fn every_metric_is_on_the_dashboard() {
    let dashboard = read("deploy/grafana/operetta.json");
    let is_missing = |metric: &&MetricDescription| !dashboard.contains(&metric.name);
    let metrics = Metrics::new();
    let missing: Vec<&str> = metrics
        .described()
        .iter()
        .filter(is_missing)
        .map(|metric| metric.name.as_str())
        .filter(|name| !["process_virtual_memory_bytes", "process_max_fds"].contains(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_table_of_metrics_is_complete() {
    let documented = read("docs/metrics.md");
    let begin = documented.find("| metric |").unwrap();
    let rows: String = Metrics::new().described().iter().map(row).collect();
    let expected = format!("| metric | kind | labels | what it says |\n|---|---|---|---|\n{rows}");
    assert!(documented[begin..] == expected, "docs/metrics.md should end with\n{expected}");
}

fn row(metric: &MetricDescription) -> String {
    let MetricDescription { name, kind, labels, help } = metric;
    let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
    format!("| `{name}` | {kind} | {} | {help} |\n", labels.join(" "))
}

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}
