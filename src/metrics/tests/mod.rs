//! What `/metrics` shows.

use std::time::{Duration, UNIX_EPOCH};

use super::*;
use crate::{
    history::{Outcome, ReconcileStep, StepTimes, Verb},
    object::K8sType,
    operator::{ChildConfig, OperatorConfig, OperatorName},
    schedule::Priority,
};

mod series;

fn operator() -> OperatorName {
    OperatorName::new("echo-server").unwrap()
}

fn pods() -> K8sType {
    K8sType::namespaced("v1", "Pod", "pods")
}

fn shows(metrics: &Metrics, line: &str) {
    let text = metrics.render();
    assert!(text.lines().any(|shown| shown == line), "no line `{line}` in\n{text}");
}

#[test]
fn reconciles_are_counted_by_operator_and_outcome() {
    let metrics = Metrics::new();
    metrics.reconcile_started(&operator());
    metrics.reconcile_started(&operator());
    metrics.reconcile_finished(&operator(), &Outcome::Ready, Duration::from_millis(3), None);
    shows(&metrics, r#"operetta_reconciles_in_flight{operator="echo-server"} 1"#);
    shows(&metrics, r#"operetta_reconciles_total{operator="echo-server",outcome="ready"} 1"#);
    shows(
        &metrics,
        r#"operetta_reconcile_duration_seconds_bucket{operator="echo-server",le="0.005"} 1"#,
    );
    shows(
        &metrics,
        r#"operetta_reconcile_duration_seconds_bucket{operator="echo-server",le="0.001"} 0"#,
    );
}

#[test]
fn the_time_of_a_reconcile_is_counted_by_step() {
    let metrics = Metrics::new();
    let mut times = StepTimes::default();
    times.add(ReconcileStep::Sync, Duration::from_micros(300));
    metrics.steps(&operator()).took(times);
    let spent = |step: &str, seconds: &str| {
        let labels = format!(r#"{{operator="echo-server",step="{step}"}}"#);
        shows(&metrics, &format!("operetta_reconcile_step_seconds_total{labels} {seconds}"));
    };
    spent("sync", "0.0003");
    spent("apply", "0");
}

#[test]
fn writes_are_counted_by_type_and_verb() {
    let metrics = Metrics::new();
    metrics.child_written(&operator(), &pods(), Verb::Created);
    metrics.noop_write(&operator(), &pods());
    metrics.conflict(&operator(), &pods());
    metrics.children_unchanged(&operator(), 4);
    metrics.status_written(&operator());
    metrics.deletions_held(&operator(), 7);
    for line in [
        r#"operetta_child_writes_total{operator="echo-server",type="pods",verb="created"} 1"#,
        r#"operetta_noop_writes_total{operator="echo-server",type="pods"} 1"#,
        r#"operetta_conflicts_total{operator="echo-server",type="pods"} 1"#,
        r#"operetta_children_unchanged_total{operator="echo-server"} 4"#,
        r#"operetta_status_writes_total{operator="echo-server"} 1"#,
        r#"operetta_deletions_held_total{operator="echo-server"} 7"#,
    ] {
        shows(&metrics, line);
    }
}

#[test]
fn repaired_fields_are_counted_by_type_and_manager() {
    let metrics = Metrics::new();
    metrics.drift_repaired(&operator(), &pods(), Some("hpa"), 2);
    metrics.drift_repaired(&operator(), &pods(), None, 1);
    metrics.flapping(&operator(), "FightingOverFields");
    for line in [
        r#"operetta_drift_repaired_total{manager="hpa",operator="echo-server",type="pods"} 2"#,
        r#"operetta_drift_repaired_total{manager="unknown",operator="echo-server",type="pods"} 1"#,
        r#"operetta_flapping_total{operator="echo-server",reason="FightingOverFields"} 1"#,
    ] {
        shows(&metrics, line);
    }
}

#[test]
fn requests_without_an_answer_have_no_code() {
    let metrics = Metrics::new();
    metrics.api_request("list", &pods(), Some(403), Duration::from_millis(1));
    metrics.api_request("list", &pods(), None, Duration::from_millis(1));
    shows(&metrics, r#"operetta_api_requests_total{code="403",type="pods",verb="list"} 1"#);
    shows(&metrics, r#"operetta_api_requests_total{code="none",type="pods",verb="list"} 1"#);
}

#[test]
fn metrics_of_registered_operators_and_types_start_with_zero() {
    let metrics = Metrics::new();
    let config = OperatorConfig::new("echo-server", K8sType::cluster_scoped("v1", "Node", "nodes"))
        .child_of_type(pods(), ChildConfig::apply());
    metrics.operator_registered(&operator(), &config);
    metrics.type_registered(&pods());
    for line in [
        r#"operetta_handler_panics_total{operator="echo-server"} 0"#,
        r#"operetta_conflicts_total{operator="echo-server",type="pods"} 0"#,
        r#"operetta_children_in_conflict{operator="echo-server",type="pods"} 0"#,
        r#"operetta_children_altered{operator="echo-server",type="pods"} 0"#,
        r#"operetta_children_held{operator="echo-server"} 0"#,
        r#"operetta_noop_writes_total{operator="echo-server",type="pods"} 0"#,
        r#"operetta_flapping_total{operator="echo-server",reason="UnstableHandler"} 0"#,
        r#"operetta_version_regressions_total{type="pods"} 0"#,
        r#"operetta_undecodable_objects_total{type="pods"} 0"#,
        r#"operetta_watch_events_total{type="pods"} 0"#,
        r#"operetta_operator_restarts_total{operator="echo-server"} 0"#,
    ] {
        shows(&metrics, line);
    }
}

#[test]
fn a_lasting_condition_is_counted_until_it_ends() {
    let metrics = Metrics::new();
    let held = metrics.held(&operator(), 5);
    shows(&metrics, r#"operetta_children_held{operator="echo-server"} 5"#);
    drop(held);
    shows(&metrics, r#"operetta_children_held{operator="echo-server"} 0"#);
    let shown = |children: u8| {
        let labels = r#"operator="echo-server",type="pods""#;
        shows(&metrics, &format!("operetta_children_in_conflict{{{labels}}} {children}"));
    };
    let first = metrics.in_conflict(&operator(), &pods());
    let second = metrics.in_conflict(&operator(), &pods());
    shown(2);
    drop(first);
    shown(1);
    drop(second);
    shown(0);
}

#[test]
fn a_queue_shows_depth_and_wait_of_every_priority() {
    let metrics = Metrics::new();
    let queue = metrics.queue(&operator());
    for priority in Priority::ALL {
        let labels = format!(r#"operator="echo-server",priority="{}""#, priority.name());
        shows(&metrics, &format!("operetta_queue_depth{{{labels}}} 0"));
        queue.depth(priority, 3);
        queue.waited(priority, Duration::from_millis(250));
        shows(&metrics, &format!("operetta_queue_depth{{{labels}}} 3"));
        shows(&metrics, &format!("operetta_queue_wait_seconds_sum{{{labels}}} 0.25"));
    }
}

#[test]
fn gauges_show_the_last_value_that_was_set() {
    let metrics = Metrics::new();
    let last_event = Some(UNIX_EPOCH + Duration::from_millis(1500));
    for objects in [5, 2] {
        let gauges = CacheGauges {
            objects,
            bytes: objects * 100,
            undecodable: objects + 1,
            is_synced: true,
            last_event,
        };
        metrics.cache(&pods(), gauges);
    }
    shows(&metrics, r#"operetta_cache_objects{type="pods"} 2"#);
    shows(&metrics, r#"operetta_cache_bytes{type="pods"} 200"#);
    shows(&metrics, r#"operetta_cache_undecodable_objects{type="pods"} 3"#);
    shows(&metrics, r#"operetta_watch_last_event_timestamp_seconds{type="pods"} 1.5"#);
}

#[test]
fn the_caches_of_two_versions_of_a_type_have_different_labels() {
    let metrics = Metrics::new();
    let version = |version| K8sType::namespaced(&format!("example.com/{version}"), "Oven", "ovens");
    let (old, new) = (version("v1"), version("v2"));
    metrics.tell_apart(&[&old, &new]);
    for (ty, objects) in [(&old, 3), (&new, 5)] {
        let gauges =
            CacheGauges { objects, bytes: 0, undecodable: 0, is_synced: true, last_event: None };
        metrics.cache(ty, gauges);
        metrics.watch_event(ty);
    }
    shows(&metrics, r#"operetta_cache_objects{type="ovens.v1.example.com"} 3"#);
    shows(&metrics, r#"operetta_cache_objects{type="ovens.v2.example.com"} 5"#);
    shows(&metrics, r#"operetta_watch_events_total{type="ovens.v1.example.com"} 1"#);
}

#[test]
fn a_message_is_counted_until_it_is_handled() {
    let metrics = Metrics::new();
    let mailbox = metrics.mailbox("reflector", "pods");
    let shown = |depth: &str| {
        let labels = r#"actor="reflector",of="pods""#;
        shows(&metrics, &format!("operetta_mailbox_depth{{{labels}}} {depth}"));
    };
    let (first, second) = (mailbox.enter(), mailbox.enter());
    shown("2");
    drop(first);
    shown("1");
    drop(second);
    shown("0");
}

#[test]
fn the_version_is_a_metric() {
    let line = format!("operetta_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION"));
    shows(&Metrics::new(), &line);
}

#[test]
#[cfg(target_os = "linux")]
fn process_metrics_are_shown() {
    let text = Metrics::new().render();
    for name in ["cpu_seconds_total", "resident_memory_bytes", "open_fds", "start_time_seconds"] {
        assert!(text.contains(&format!("\nprocess_{name} ")), "{name}");
    }
}

#[test]
fn two_registries_are_independent() {
    let (one, other) = (Metrics::new(), Metrics::new());
    one.handler_panicked(&operator());
    shows(&one, r#"operetta_handler_panics_total{operator="echo-server"} 1"#);
    assert!(!other.render().contains("panics"));
}
