//! How many series there are. A series costs memory of the Prometheus server for as long as it exists, so that their number
//! is a decision.

use super::*;

/// As many types as the operators of this repository watch.
const TYPES: u8 = 17;
/// As many as they read without owning them.
const RELATED: u8 = 8;
/// The operators of this repository with types of children, of which they have 16 together.
const OPERATORS: [(&str, u8); 5] = [
    ("config-propagation", 2),
    ("database", 9),
    ("deployment-scaler", 1),
    ("echo-server", 2),
    ("temp-namespace", 2),
];
const VERBS: [&str; 6] = ["create", "delete", "get", "list", "patch", "watch"];
const PHASES: [&str; 9] = [
    "pending",
    "running",
    "ready",
    "synced",
    "waiting",
    "failing",
    "stalled",
    "finalizing",
    "paused",
];

fn ty(number: u8) -> K8sType {
    K8sType::namespaced("example.com/v1", "Type", &format!("type{number}s"))
}

/// Everything that an operator counts, in all its series.
fn run(metrics: &Metrics, name: &str, children: u8) {
    let name = OperatorName::new(name).unwrap();
    let children: Vec<K8sType> = (0..children).map(ty).collect();
    let config = OperatorConfig::new(name.as_str(), ty(TYPES));
    let config = children
        .iter()
        .fold(config, |config, child| config.child_of_type(child.clone(), ChildConfig::apply()));
    metrics.operator_registered(&name, &config);
    metrics.queue(&name).depth(Priority::ALL[0], 0);
    metrics.steps(&name).took(StepTimes::default());
    for actor in ["operator", "reconciler"] {
        let _ = metrics.mailbox(actor, name.as_str()).enter();
    }
    for phase in PHASES {
        metrics.parents(&name, phase, 1);
    }
    metrics.operator_up(&name, true);
    metrics.operator_paused(&name, false);
    metrics.undeclared(&name, &[]);
    metrics.reconcile_started(&name);
    metrics.reconcile_finished(&name, &Outcome::Ready, Duration::from_millis(3), None);
    for child in &children {
        for verb in [Verb::Created, Verb::Updated, Verb::Deleted] {
            metrics.child_written(&name, child, verb);
        }
    }
}

fn watch(metrics: &Metrics, number: u8) {
    let ty = ty(number);
    metrics.type_registered(&ty);
    let last_event = Some(UNIX_EPOCH);
    let gauges = CacheGauges { objects: 1, bytes: 1, undecodable: 0, is_synced: true, last_event };
    metrics.cache(&ty, gauges);
    let _ = metrics.mailbox("reflector", &metrics.type_label(&ty)).enter();
    for verb in VERBS {
        metrics.api_request(verb, &ty, Some(200), Duration::from_millis(1));
    }
}

fn series(metrics: &Metrics) -> usize {
    metrics.render().lines().filter(|line| !line.starts_with('#')).count()
}

#[test]
fn five_operators_have_less_than_a_thousand_series() {
    let metrics = Metrics::new();
    metrics.web_served();
    for (name, children) in OPERATORS {
        run(&metrics, name, children);
    }
    for number in 0..TYPES {
        watch(&metrics, number);
    }
    for number in 0..RELATED {
        metrics.related(&ty(number), (1, 1));
        metrics.related_synced(&ty(number), true);
        let _ = metrics.mailbox("related", &metrics.type_label(&ty(number))).enter();
    }
    let (total, limit) = (series(&metrics), 1000);
    assert!(total < limit, "{total} series");
}

/// The numbers of `docs/metrics.md`.
#[test]
fn an_operator_a_type_of_children_and_a_watched_type_add_what_is_documented() {
    let documented = include_str!("../../../docs/metrics.md");
    let adds = |what: &str, add: &dyn Fn(&Metrics)| {
        let metrics = Metrics::new();
        run(&metrics, "first", 0);
        watch(&metrics, 0);
        let before = series(&metrics);
        add(&metrics);
        let line = format!("| {what} | {} |", series(&metrics) - before);
        assert!(documented.lines().any(|it| it == line), "docs/metrics.md lacks `{line}`");
    };
    adds("an operator", &|metrics| run(metrics, "second", 0));
    adds("each type of its children", &|metrics| run(metrics, "first", 1));
    adds("a watched type", &|metrics| watch(metrics, 1));
}
