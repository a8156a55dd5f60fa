//! The names, labels and help texts of all metrics but those of the process itself.

use std::collections::HashMap;

use prometheus::{
    CounterVec, GaugeVec, HistogramOpts, HistogramVec, IntCounterVec, IntGaugeVec, Opts, Result,
    core::{Collector, MetricVec, MetricVecBuilder},
};

use super::described::Registrar;

/// Reconciles take from a fraction of a millisecond (nothing to do) to the timeout of a handler.
pub(super) const RECONCILE_BUCKETS: &[f64] = &[0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0];

/// Most reconciles need not wait; after a start with many parents some wait for minutes.
const WAIT_BUCKETS: &[f64] = &[0.1, 1.0, 10.0, 60.0, 300.0];

/// Requests end after 30 seconds at the latest.
const REQUEST_BUCKETS: &[f64] = &[0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0];

/// An API server waits for at most 30 seconds, by default for ten.
const WEBHOOK_BUCKETS: &[f64] = &[0.001, 0.005, 0.025, 0.1, 0.5, 2.0, 10.0];

/// Declares the families in one table: field, kind, name, labels, buckets, help text.
macro_rules! families {
    ($($field:ident: $kind:ident($name:literal, $labels:tt $(, $buckets:ident)?) = $help:literal;)*) => {
        pub(super) struct Families {
            $(pub(super) $field: families!(type $kind),)*
        }

        impl Families {
            pub(super) fn register(registrar: &mut Registrar) -> Result<Self> {
                Ok(Self {
                    $($field: $kind(registrar, $name, $help, &$labels $(, $buckets)?)?,)*
                })
            }

            /// Removes the namespaces of an operator, which may have others now.
            pub(super) fn remove_namespaces(&self, operator: &str) {
                remove(&self.namespace_up, &[("operator", operator)]);
            }

            /// Removes the series with these labels.
            pub(super) fn remove(&self, labels: &[(&str, &str)]) {
                $(remove(&self.$field, labels);)*
            }
        }
    };
    (type counters) => { IntCounterVec };
    (type sums) => { CounterVec };
    (type gauges) => { IntGaugeVec };
    (type times) => { GaugeVec };
    (type histograms) => { HistogramVec };
}

families! {
    build_info: gauges("build_info", ["version"]) = "Always 1; the label is the version.";
    mailbox_depth: gauges("mailbox_depth", ["actor", "of"])
        = "Messages that wait for an actor, or for all reconcilers of an operator.";
    // reconciles
    reconciles: counters("reconciles_total", ["operator", "outcome"])
        = "Reconciles that ended, by outcome.";
    reconcile_duration: histograms("reconcile_duration_seconds", ["operator"], RECONCILE_BUCKETS)
        = "Duration of reconciles, including the handler and writes.";
    step_duration: sums("reconcile_step_seconds_total", ["operator", "step"])
        = "Time spent in the steps of reconciles: snapshot, sync (the handler), plan, apply, status.";
    in_flight: gauges("reconciles_in_flight", ["operator"]) = "Reconciles in progress.";
    queued: gauges("queue_depth", ["operator", "priority"])
        = "Parents that wait for a permit to be reconciled.";
    queue_wait: histograms("queue_wait_seconds", ["operator", "priority"], WAIT_BUCKETS)
        = "How long parents waited for a permit to be reconciled.";
    backoffs: counters("backoffs_total", ["operator"]) = "Failed reconciles that are retried.";
    panics: counters("handler_panics_total", ["operator"]) = "Handlers that panicked.";
    timeouts: counters("handler_timeouts_total", ["operator"])
        = "Handlers that exceeded their timeout.";
    metric_overflows: counters("handler_metric_overflows_total", ["operator"])
        = "Updates of metrics of a handler that are beyond their limits.";
    overdue: gauges("handlers_overdue", ["operator"])
        = "Handlers that exceeded their timeout and still run; each holds a permit.";
    parents: gauges("parents", ["operator", "phase"]) = "Parents by phase.";
    operator_up: gauges("operator_up", ["operator"])
        = "1 while the operator is neither starting nor degraded, else 0.";
    namespace_up: gauges("namespace_up", ["operator", "watched_namespace"])
        = "1 while an operator that is restricted to namespaces can read all its types in this one, else 0.";
    operator_paused: gauges("operator_paused", ["operator"])
        = "1 while a user has paused the operator, else 0.";
    oldest_pause: times("oldest_pause_timestamp_seconds", ["operator"])
        = "Since when the operator, or the longest paused of its parents, is paused; absent if none is.";
    restarts: counters("operator_restarts_total", ["operator"])
        = "Restarts of an operator, of what it watches with or of one of its parents after a panic in Operetta.";
    undeclared: gauges("undeclared_status_fields", ["operator", "wanted_by"])
        = "Status fields that are not written because the CRD does not declare them, by their \
           source.";
    // writes
    child_writes: counters("child_writes_total", ["operator", "type", "verb"])
        = "Children created, updated and deleted.";
    noop_writes: counters("noop_writes_total", ["operator", "type"])
        = "Writes of children that changed nothing on the server.";
    drift_repaired: counters("drift_repaired_total", ["operator", "type", "manager"])
        = "Fields that another manager changed and that were set again, by manager; a deleted child \
           counts as one.";
    flapping: counters("flapping_total", ["operator", "reason"])
        = "Repeated writes, which slow down the reconciles of their parents.";
    unchanged: counters("children_unchanged_total", ["operator"])
        = "Children that a reconcile found up to date and did not write.";
    conflicts: counters("conflicts_total", ["operator", "type"])
        = "Conflicts found: a child's name or fields belong to another owner or field manager.";
    in_conflict: gauges("children_in_conflict", ["operator", "type"])
        = "Children that are not up to date now because their names or fields belong to another \
           owner or field manager.";
    altered: gauges("children_altered", ["operator", "type"])
        = "Children that differ from their applied state, because admission changes them or the server \
           drops fields.";
    status_writes: counters("status_writes_total", ["operator"])
        = "Writes of the status of parents.";
    deletions_held: counters("deletions_held_total", ["operator"])
        = "Deletions of children that were held because they are too many.";
    held: gauges("children_held", ["operator"])
        = "Children whose deletion is held now because they are too many.";
    // the API server
    api_requests: counters("api_requests_total", ["verb", "type", "code"])
        = "Requests to the API server; code `none` means no answer.";
    api_duration: histograms("api_request_duration_seconds", ["verb"], REQUEST_BUCKETS)
        = "Time until the API server began its answers.";
    watch_events: counters("watch_events_total", ["type"]) = "Changes received from watches.";
    watch_restarts: counters("watch_restarts_total", ["type", "reason"])
        = "Restarts of watches: the resourceVersion is too old (expired) or newer than the server's \
           (version_regressed), the server was unreachable for long (outage), an event was not \
           decodable (undecodable), the list made no progress (stuck), no event came for long \
           (silent, as with types that rarely change), another error (error).";
    undecodable: counters("undecodable_objects_total", ["type"])
        = "Objects that could not be decoded; they are not cached.";
    version_regressed: counters("version_regressions_total", ["type"])
        = "Lists with an older resourceVersion than before, as after a restored backup.";
    last_event: times("watch_last_event_timestamp_seconds", ["type"])
        = "When the server last sent something for the type, including bookmarks and answers to \
           probes.";
    // caches
    cache_objects: gauges("cache_objects", ["type"]) = "Objects in the cache.";
    cache_bytes: gauges("cache_bytes", ["type"]) = "Bytes of JSON in the cache.";
    related_objects: gauges("related_objects", ["type"]) = "Related objects in caches of their own.";
    related_bytes: gauges("related_bytes", ["type"]) = "Bytes of JSON in these.";
    related_synced: gauges("related_synced", ["type"])
        = "1 while the related objects that are asked for can be read and are up to date, else 0.";
    cache_synced: gauges("cache_synced", ["type"])
        = "1 once the first list of the type was complete, else 0.";
    cache_undecodable: gauges("cache_undecodable_objects", ["type"])
        = "Objects that are not in the cache now because they cannot be decoded.";
    // leader election
    leader: gauges("leader", ["lease"]) = "1 while this process leads by the Lease, else 0.";
    leader_transitions: counters("leader_transitions_total", ["lease", "to"])
        = "Changes of the role of this process, by the new role: leader, standby.";
    lease_renewals: counters("lease_renewals_total", ["lease", "outcome"])
        = "Writes of the Lease: accepted, outrun by another process, failed.";
    // shares of parents
    shard_buckets: gauges("shard_buckets", ["state"])
        = "Buckets of parents, by state: those in which this process works, and those in which no process works, as far as this one knows.";
    // types in several versions
    migration_objects: counters("migration_objects_total", ["type", "outcome"])
        = "Objects that may have been stored in an old version, by outcome: written again, written by another meanwhile (conflict), gone, failed.";
    migration_remaining: gauges("migration_objects_remaining", ["type"])
        = "About how many objects are left of those that are being migrated from an old version.";
    // webhooks
    webhook_certificate_expiry: gauges("webhook_certificate_expiry_timestamp_seconds", ["certificate"])
        = "When a certificate of the webhooks expires that the replicas share: serving, and the authority that signs.";
    webhook_requests: counters("webhook_requests_total", ["webhook", "operation", "outcome"])
        = "Calls of webhooks by the API server, by outcome.";
    webhook_denied: counters("webhook_denied_total", ["webhook", "reason"])
        = "Requests that a webhook denied, by the reason that the client gets.";
    webhook_duration: histograms("webhook_duration_seconds", ["webhook"], WEBHOOK_BUCKETS)
        = "Duration of calls of webhooks, without the transport.";
    webhook_in_flight: gauges("webhook_in_flight", ["webhook"]) = "Calls of webhooks in progress.";
    // the web endpoint
    web_attempts: counters("web_attempts_total", ["attempt", "outcome"])
        = "Logins and commands over HTTP, by outcome.";
}

fn counters(r: &mut Registrar, name: &str, help: &str, labels: &[&str]) -> Result<IntCounterVec> {
    registered(r, IntCounterVec::new(opts(name, help), labels)?)
}

/// Sums of times, in seconds.
fn sums(r: &mut Registrar, name: &str, help: &str, labels: &[&str]) -> Result<CounterVec> {
    registered(r, CounterVec::new(opts(name, help), labels)?)
}

fn gauges(r: &mut Registrar, name: &str, help: &str, labels: &[&str]) -> Result<IntGaugeVec> {
    registered(r, IntGaugeVec::new(opts(name, help), labels)?)
}

/// Seconds since the epoch.
fn times(r: &mut Registrar, name: &str, help: &str, labels: &[&str]) -> Result<GaugeVec> {
    registered(r, GaugeVec::new(opts(name, help), labels)?)
}

fn histograms(
    r: &mut Registrar,
    name: &str,
    help: &str,
    labels: &[&str],
    buckets: &[f64],
) -> Result<HistogramVec> {
    let opts = HistogramOpts::from(opts(name, help)).buckets(buckets.to_vec());
    registered(r, HistogramVec::new(opts, labels)?)
}

fn remove<T: MetricVecBuilder>(vec: &MetricVec<T>, wanted: &[(&str, &str)]) {
    for family in vec.collect() {
        for metric in family.get_metric() {
            let labels = metric.get_label().iter().map(|label| (label.name(), label.value()));
            let labels: HashMap<&str, &str> = labels.collect();
            if wanted.iter().all(|(label, value)| labels.get(label) == Some(value)) {
                // Somebody else may have removed it.
                let _ = vec.remove(&labels);
            }
        }
    }
}

fn opts(name: &str, help: &str) -> Opts {
    Opts::new(name, help).namespace("operetta")
}

fn registered<C: Collector + Clone + 'static>(r: &mut Registrar, collector: C) -> Result<C> {
    r.register(collector.clone())?;
    Ok(collector)
}
