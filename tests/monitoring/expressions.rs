//! The expressions of the dashboard and of the alerts, parsed: they select exported metrics by labels that these have,
//! and every template finds its labels in the result.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use operetta::{
    object::K8sType,
    operator::{ChildConfig, OperatorConfig},
    testkit::internals::metrics::{MetricDescription, Metrics},
};
use promql_parser::{
    parser::{self, Expr, LabelModifier, VectorMatchCardinality, VectorSelector},
    util::parse_duration,
};
use serde::Deserialize;
use serde_json::Value;

/// Labels that a Prometheus server adds when it scrapes.
const SERVER_LABELS: [&str; 4] = ["cluster", "namespace", "job", "instance"];

/// A file of alerting rules, as Prometheus reads it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    name: String,
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    alert: String,
    expr: String,
    #[serde(default)]
    r#for: Option<String>,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
}

#[test]
fn every_alert_uses_exported_metrics_and_has_its_annotations() {
    let file: RuleFile = serde_yaml_ng::from_str(&read("deploy/prometheus/rules.yaml")).unwrap();
    let groups: BTreeSet<&str> = file.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(groups.len(), file.groups.len(), "two groups of one name");
    let rules: Vec<Rule> = file.groups.into_iter().flat_map(|group| group.rules).collect();
    let names: BTreeSet<&str> = rules.iter().map(|rule| rule.alert.as_str()).collect();
    assert_eq!(names.len(), rules.len(), "two alerts of one name");
    let exported = Exported::new();
    for rule in &rules {
        let left = exported.check(&rule.alert, &rule.expr);
        for label in ["cluster", "namespace", "job"] {
            let is_kept = left.as_ref().is_some_and(|left| left.contains(label));
            assert!(is_kept, "{}: {label} is lost", rule.alert);
        }
        if let Some(span) = &rule.r#for {
            parse_duration(span).unwrap_or_else(|error| panic!("{}: {error}", rule.alert));
        }
        assert!(["critical", "warning", "info"].contains(&rule.labels["severity"].as_str()));
        for text in [&rule.annotations["summary"], &rule.annotations["description"]] {
            for label in labels_in(text) {
                let is_there = left.as_ref().is_none_or(|left| left.contains(label));
                assert!(is_there, "{}: `{text}` has no value for {label}", rule.alert);
            }
        }
    }
}

/// `increase` does not count the first sample of a series: an alert on a single failure would never fire.
#[test]
fn counters_of_alerts_are_exported_before_they_increase() {
    let metrics = Metrics::new();
    let ty = K8sType::namespaced("v1", "Pod", "pods");
    let config = OperatorConfig::new("cook", K8sType::namespaced("example.com/v1", "R", "rs"))
        .child_of_type(ty.clone(), ChildConfig::apply());
    metrics.type_registered(&ty);
    metrics.operator_registered(&config.operator_name().unwrap(), &config);
    let shown = metrics.render();
    let described = metrics.described().iter();
    let counters = described.filter(|metric| metric.kind == "counter");
    let counters: BTreeSet<&str> = counters.map(|metric| metric.name.as_str()).collect();
    let file: RuleFile = serde_yaml_ng::from_str(&read("deploy/prometheus/rules.yaml")).unwrap();
    let rules: Vec<Rule> = file.groups.into_iter().flat_map(|group| group.rules).collect();
    let mut checked = 0;
    for rule in &rules {
        for selector in increasing(&parser::parse(&rule.expr).unwrap()) {
            let name = selector.name.as_deref().unwrap();
            // The codes of responses are unknown before; a failure that lasts is counted again.
            if !counters.contains(name) || name == "operetta_api_requests_total" {
                continue;
            }
            checked += 1;
            let is_it = |line: &str| is_of(line, name, &selector);
            assert!(shown.lines().any(is_it), "{}: no {selector} in\n{shown}", rule.alert);
        }
    }
    assert!(checked > 5, "{checked} of {}", rules.len());
}

/// The series whose increase an expression uses.
fn increasing(expr: &Expr) -> Vec<VectorSelector> {
    match expr {
        Expr::Call(call) if ["increase", "rate", "irate"].contains(&call.func.name) => {
            let of = |arg: &Expr| match arg {
                Expr::MatrixSelector(selector) => selector.vs.clone(),
                other => panic!("{other} is not a range vector"),
            };
            call.args.args.iter().map(|arg| of(arg)).collect()
        }
        Expr::Call(call) => call.args.args.iter().flat_map(|arg| increasing(arg)).collect(),
        Expr::Aggregate(aggregate) => increasing(&aggregate.expr),
        Expr::Paren(inner) => increasing(&inner.expr),
        Expr::Unary(inner) => increasing(&inner.expr),
        Expr::Binary(binary) => {
            [increasing(&binary.lhs), increasing(&binary.rhs)].into_iter().flatten().collect()
        }
        Expr::Subquery(_)
        | Expr::VectorSelector(_)
        | Expr::MatrixSelector(_)
        | Expr::NumberLiteral(_)
        | Expr::StringLiteral(_)
        | Expr::Extension(_) => Vec::new(),
    }
}

/// Whether a line of `/metrics` is a sample that the selector matches.
fn is_of(line: &str, name: &str, selector: &VectorSelector) -> bool {
    let Some(rest) = line.strip_prefix(name) else { return false };
    let Some((labels, _)) = rest.strip_prefix('{').and_then(|it| it.split_once("} ")) else {
        return false;
    };
    let labels: BTreeMap<&str, &str> = labels
        .split(',')
        .map(|label| label.split_once('=').unwrap())
        .map(|(name, value)| (name, value.trim_matches('"')))
        .collect();
    let mut matchers = selector.matchers.matchers.iter();
    matchers.all(|it| it.is_match(labels.get(it.name.as_str()).copied().unwrap_or_default()))
}

#[test]
fn every_panel_uses_exported_metrics() {
    let dashboard: Value = serde_json::from_str(&read("deploy/grafana/operetta.json")).unwrap();
    let exported = Exported::new();
    let mut ids = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        let title = panel["title"].as_str().unwrap();
        assert!(ids.insert(panel["id"].as_u64()), "{title}: two panels of one id");
        for target in panel["targets"].as_array().into_iter().flatten() {
            let expr = target["expr"].as_str().unwrap().replace("$__rate_interval", "5m");
            let left = exported.check(title, &expr);
            for label in labels_in(target["legendFormat"].as_str().unwrap()) {
                let is_there = left.as_ref().is_none_or(|left| left.contains(label));
                assert!(is_there, "{title}: the legend has no value for {label}");
            }
        }
    }
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        if let Some(query) = variable["definition"].as_str() {
            let inner = query.strip_prefix("label_values(").unwrap().strip_suffix(')').unwrap();
            let (expr, label) = inner.rsplit_once(',').unwrap();
            let labels = exported.check("variables", expr).unwrap_or_default();
            let label = label.trim();
            assert!(labels.contains(label) || SERVER_LABELS.contains(&label), "{query}");
        }
    }
}

/// Every series name with its labels.
struct Exported(BTreeMap<String, BTreeSet<String>>);

impl Exported {
    fn new() -> Self {
        let mut series = BTreeMap::new();
        for MetricDescription { name, kind, labels, .. } in Metrics::new().described() {
            let mut labels: BTreeSet<String> = labels.iter().cloned().collect();
            labels.extend(SERVER_LABELS.map(str::to_owned));
            if kind == "histogram" {
                series.insert(format!("{name}_sum"), labels.clone());
                series.insert(format!("{name}_count"), labels.clone());
                labels.insert("le".to_owned());
                series.insert(format!("{name}_bucket"), labels);
            } else {
                series.insert(name.clone(), labels);
            }
        }
        Self(series)
    }

    /// Checks an expression; returns the labels of its result, if they are known.
    fn check(&self, whose: &str, expr: &str) -> Option<BTreeSet<String>> {
        let parsed = parser::parse(expr).unwrap_or_else(|error| panic!("{whose}: {expr}: {error}"));
        self.labels_of(whose, &parsed)
    }

    fn labels_of(&self, whose: &str, expr: &Expr) -> Option<BTreeSet<String>> {
        match expr {
            Expr::VectorSelector(selector) => Some(self.selected(whose, selector)),
            Expr::MatrixSelector(selector) => Some(self.selected(whose, &selector.vs)),
            Expr::Subquery(inner) => self.labels_of(whose, &inner.expr),
            Expr::Paren(inner) => self.labels_of(whose, &inner.expr),
            Expr::Unary(inner) => self.labels_of(whose, &inner.expr),
            Expr::Call(call) => {
                let args: Vec<_> =
                    call.args.args.iter().map(|arg| self.labels_of(whose, arg)).collect();
                args.into_iter().flatten().next().map(|mut labels| {
                    if call.func.name == "histogram_quantile" {
                        assert!(labels.remove("le"), "{whose}: a quantile needs `le`");
                    }
                    labels
                })
            }
            Expr::Aggregate(aggregate) => {
                let of = self.labels_of(whose, &aggregate.expr)?;
                match &aggregate.modifier {
                    None => Some(BTreeSet::new()),
                    Some(LabelModifier::Include(by)) => {
                        let by: BTreeSet<String> = by.labels.iter().cloned().collect();
                        assert!(by.is_subset(&of), "{whose}: by {by:?} of {of:?}");
                        Some(by)
                    }
                    Some(LabelModifier::Exclude(without)) => {
                        Some(of.into_iter().filter(|l| !without.labels.contains(l)).collect())
                    }
                }
            }
            Expr::Binary(binary) => {
                let (left, right) =
                    (self.labels_of(whose, &binary.lhs), self.labels_of(whose, &binary.rhs));
                let is_one_to_one = binary.modifier.as_ref().is_none_or(|modifier| {
                    modifier.matching.is_none()
                        && matches!(modifier.card, VectorMatchCardinality::OneToOne)
                });
                if let (true, Some(left), Some(right)) = (is_one_to_one, &left, &right) {
                    assert_eq!(left, right, "{whose}: nothing would match");
                }
                left.or(right)
            }
            Expr::NumberLiteral(_) | Expr::StringLiteral(_) | Expr::Extension(_) => None,
        }
    }

    fn selected(&self, whose: &str, selector: &VectorSelector) -> BTreeSet<String> {
        let name = selector.name.as_deref().unwrap_or_default();
        let labels = self.0.get(name).unwrap_or_else(|| panic!("{whose}: no metric `{name}`"));
        for matcher in &selector.matchers.matchers {
            assert!(labels.contains(&matcher.name), "{whose}: {name} has no {}", matcher.name);
        }
        labels.clone()
    }
}

/// The labels in a template: `{{ $labels.x }}` in alerts, `{{x}}` in legends.
fn labels_in(text: &str) -> impl Iterator<Item = &str> {
    let inner = text.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
    inner.map(str::trim).filter_map(|word| match word.strip_prefix("$labels.") {
        Some(label) => Some(label),
        None => (!word.starts_with('$')).then_some(word),
    })
}

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}
