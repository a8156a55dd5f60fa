//! The names, labels and help texts of all metrics but those of the process itself.

use prometheus::{
    GaugeVec, HistogramOpts, HistogramVec, IntCounterVec, IntGaugeVec, Opts, Result,
    core::Collector,
};

use super::described::Registrar;

/// Reconciles take from a fraction of a millisecond (nothing to do) to the timeout of a handler.
const RECONCILE_BUCKETS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];

/// Most steps take microseconds; those that send requests or call slow handlers take longer.
const STEP_BUCKETS: &[f64] =
    &[0.000_01, 0.000_05, 0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];

/// Most reconciles need not wait; after a start with many parents some wait for minutes.
const WAIT_BUCKETS: &[f64] = &[0.001, 0.01, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0];

/// Requests end after 30 seconds at the latest.
const REQUEST_BUCKETS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// Why a watch restarts.
pub(super) const RESTARTS: [&str; 7] =
    ["error", "expired", "outage", "silent", "stuck", "undecodable", "version_regressed"];

pub(super) struct Families {
    pub(super) build_info: IntGaugeVec,
    pub(super) mailbox_depth: IntGaugeVec,
    // reconciles
    pub(super) reconciles: IntCounterVec,
    pub(super) reconcile_duration: HistogramVec,
    pub(super) step_duration: HistogramVec,
    pub(super) in_flight: IntGaugeVec,
    pub(super) queued: IntGaugeVec,
    pub(super) queue_wait: HistogramVec,
    pub(super) backoffs: IntCounterVec,
    pub(super) panics: IntCounterVec,
    pub(super) timeouts: IntCounterVec,
    pub(super) overdue: IntGaugeVec,
    pub(super) parents: IntGaugeVec,
    pub(super) operator_up: IntGaugeVec,
    pub(super) operator_paused: IntGaugeVec,
    pub(super) undeclared: IntGaugeVec,
    // writes
    pub(super) child_writes: IntCounterVec,
    pub(super) noop_writes: IntCounterVec,
    pub(super) drift_repaired: IntCounterVec,
    pub(super) flapping: IntCounterVec,
    pub(super) unchanged: IntCounterVec,
    pub(super) conflicts: IntCounterVec,
    pub(super) in_conflict: IntGaugeVec,
    pub(super) altered: IntGaugeVec,
    pub(super) status_writes: IntCounterVec,
    pub(super) deletions_held: IntCounterVec,
    pub(super) held: IntGaugeVec,
    // the API server
    pub(super) api_requests: IntCounterVec,
    pub(super) api_duration: HistogramVec,
    pub(super) watch_events: IntCounterVec,
    pub(super) watch_restarts: IntCounterVec,
    pub(super) undecodable: IntCounterVec,
    pub(super) version_regressed: IntCounterVec,
    pub(super) last_event: GaugeVec,
    // caches
    pub(super) cache_objects: IntGaugeVec,
    pub(super) cache_bytes: IntGaugeVec,
    pub(super) cache_synced: IntGaugeVec,
    pub(super) cache_undecodable: IntGaugeVec,
    // the web endpoint
    pub(super) web_attempts: IntCounterVec,
}

impl Families {
    // One table of names: splitting it would only scatter them.
    #[allow(clippy::too_many_lines)]
    pub(super) fn register(r: &mut Registrar) -> Result<Self> {
        Ok(Self {
            build_info: gauges(
                r,
                "build_info",
                "Always 1; the label is the version.",
                &["version"],
            )?,
            mailbox_depth: gauges(
                r,
                "mailbox_depth",
                "Messages that wait for an actor, or for all reconcilers of an operator.",
                &["actor", "of"],
            )?,
            reconciles: counters(
                r,
                "reconciles_total",
                "Reconciles that ended, by outcome.",
                &["operator", "outcome"],
            )?,
            reconcile_duration: histograms(
                r,
                "reconcile_duration_seconds",
                "Duration of reconciles, including the handler and writes.",
                &["operator"],
                RECONCILE_BUCKETS,
            )?,
            step_duration: histograms(
                r,
                "reconcile_step_seconds",
                "Duration of the steps of reconciles: snapshot, sync (the handler), plan, apply, status.",
                &["operator", "step"],
                STEP_BUCKETS,
            )?,
            in_flight: gauges(r, "reconciles_in_flight", "Reconciles in progress.", &["operator"])?,
            queued: gauges(
                r,
                "queue_depth",
                "Parents that wait for a permit to be reconciled.",
                &["operator", "priority"],
            )?,
            queue_wait: histograms(
                r,
                "queue_wait_seconds",
                "How long parents waited for a permit to be reconciled.",
                &["operator", "priority"],
                WAIT_BUCKETS,
            )?,
            backoffs: counters(
                r,
                "backoffs_total",
                "Failed reconciles that are retried.",
                &["operator"],
            )?,
            panics: counters(r, "handler_panics_total", "Handlers that panicked.", &["operator"])?,
            timeouts: counters(
                r,
                "handler_timeouts_total",
                "Handlers that exceeded their timeout.",
                &["operator"],
            )?,
            overdue: gauges(
                r,
                "handlers_overdue",
                "Handlers that exceeded their timeout and still run; each holds a permit.",
                &["operator"],
            )?,
            parents: gauges(r, "parents", "Parents by phase.", &["operator", "phase"])?,
            operator_up: gauges(
                r,
                "operator_up",
                "1 while the operator is neither starting nor degraded, else 0.",
                &["operator"],
            )?,
            operator_paused: gauges(
                r,
                "operator_paused",
                "1 while a user has paused the operator, else 0.",
                &["operator"],
            )?,
            undeclared: gauges(
                r,
                "undeclared_status_fields",
                "Status fields that are not written because the CRD does not declare them, by their source.",
                &["operator", "wanted_by"],
            )?,
            child_writes: counters(
                r,
                "child_writes_total",
                "Children created, updated and deleted.",
                &["operator", "type", "verb"],
            )?,
            noop_writes: counters(
                r,
                "noop_writes_total",
                "Writes of children that changed nothing on the server.",
                &["operator", "type"],
            )?,
            drift_repaired: counters(
                r,
                "drift_repaired_total",
                "Fields that another manager changed and that were set again, by manager; a deleted \
                 child counts as one.",
                &["operator", "type", "manager"],
            )?,
            flapping: counters(
                r,
                "flapping_total",
                "Repeated writes, which slow down the reconciles of their parents.",
                &["operator", "reason"],
            )?,
            unchanged: counters(
                r,
                "children_unchanged_total",
                "Children that a reconcile found up to date and did not write.",
                &["operator"],
            )?,
            conflicts: counters(
                r,
                "conflicts_total",
                "Conflicts found: a child's name or fields belong to another owner or field manager.",
                &["operator", "type"],
            )?,
            in_conflict: gauges(
                r,
                "children_in_conflict",
                "Children that are not up to date now because their names or fields belong to another owner or field manager.",
                &["operator", "type"],
            )?,
            altered: gauges(
                r,
                "children_altered",
                "Children that differ from what was applied because admission changes them or the server drops fields.",
                &["operator", "type"],
            )?,
            status_writes: counters(
                r,
                "status_writes_total",
                "Writes of the status of parents.",
                &["operator"],
            )?,
            deletions_held: counters(
                r,
                "deletions_held_total",
                "Deletions of children that were held because they are too many.",
                &["operator"],
            )?,
            held: gauges(
                r,
                "children_held",
                "Children whose deletion is held now because they are too many.",
                &["operator"],
            )?,
            api_requests: counters(
                r,
                "api_requests_total",
                "Requests to the API server; code `none` means no answer.",
                &["verb", "type", "code"],
            )?,
            api_duration: histograms(
                r,
                "api_request_duration_seconds",
                "Time until the API server began its answers.",
                &["verb", "type"],
                REQUEST_BUCKETS,
            )?,
            watch_events: counters(
                r,
                "watch_events_total",
                "Changes received from watches.",
                TYPE,
            )?,
            watch_restarts: counters(
                r,
                "watch_restarts_total",
                "Restarts of watches: the resourceVersion is too old (expired) or newer than the server's \
                 (version_regressed), the server was unreachable for long (outage), an event was not decodable \
                 (undecodable), the list made no progress (stuck), no event came for long (silent, as with \
                 types that rarely change), another error (error).",
                &["type", "reason"],
            )?,
            undecodable: counters(
                r,
                "undecodable_objects_total",
                "Objects that could not be decoded; they are not cached.",
                TYPE,
            )?,
            version_regressed: counters(
                r,
                "version_regressions_total",
                "Lists with an older resourceVersion than before, as after a restored backup.",
                TYPE,
            )?,
            last_event: last_event(r)?,
            cache_objects: gauges(r, "cache_objects", "Objects in the cache.", TYPE)?,
            cache_bytes: gauges(r, "cache_bytes", "Bytes of JSON in the cache.", TYPE)?,
            cache_synced: gauges(
                r,
                "cache_synced",
                "1 once the first list of the type was complete, else 0.",
                TYPE,
            )?,
            cache_undecodable: gauges(
                r,
                "cache_undecodable_objects",
                "Objects that are not in the cache now because they cannot be decoded.",
                TYPE,
            )?,
            web_attempts: counters(
                r,
                "web_attempts_total",
                "Logins and commands over HTTP, by outcome.",
                &["attempt", "outcome"],
            )?,
        })
    }
}

const TYPE: &[&str] = &["type"];

fn counters(
    registrar: &mut Registrar,
    name: &str,
    help: &str,
    labels: &[&str],
) -> Result<IntCounterVec> {
    registered(registrar, IntCounterVec::new(opts(name, help), labels)?)
}

fn gauges(
    registrar: &mut Registrar,
    name: &str,
    help: &str,
    labels: &[&str],
) -> Result<IntGaugeVec> {
    registered(registrar, IntGaugeVec::new(opts(name, help), labels)?)
}

fn histograms(
    registrar: &mut Registrar,
    name: &str,
    help: &str,
    labels: &[&str],
    buckets: &[f64],
) -> Result<HistogramVec> {
    let opts = HistogramOpts::from(opts(name, help)).buckets(buckets.to_vec());
    registered(registrar, HistogramVec::new(opts, labels)?)
}

fn last_event(registrar: &mut Registrar) -> Result<GaugeVec> {
    let help = "When the server last sent something for the type, including bookmarks and answers to \
                probes.";
    let opts = opts("watch_last_event_timestamp_seconds", help);
    registered(registrar, GaugeVec::new(opts, TYPE)?)
}

fn opts(name: &str, help: &str) -> Opts {
    Opts::new(name, help).namespace("operetta")
}

fn registered<C>(registrar: &mut Registrar, collector: C) -> Result<C>
where
    C: Collector + Clone + 'static,
{
    registrar.register(collector.clone())?;
    Ok(collector)
}
