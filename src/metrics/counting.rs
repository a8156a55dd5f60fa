//! Metrics that are counted as events happen.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use prometheus::{Counter, Histogram, IntGauge, Registry, TextEncoder, proto::MetricFamily};
use tracing::Span;

use super::{
    Activity, MailboxDepth, MetricDescription,
    custom::CustomMetrics,
    described::Registrar,
    exemplars::{Exemplars, Trace, TraceIds},
    family::Families,
    managers::ManagerLabels,
    openmetrics, process,
    type_labels::TypeLabels,
};
use crate::{
    history::{Outcome, ReconcileStep, StepTimes, Verb},
    object::K8sType,
    operator::OperatorName,
    schedule::Priority,
};

/// The metrics of one supervisor, or of one test. Returned by
/// [`Running::metrics`](crate::supervisor::Running::metrics). Cheap to clone.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    described: Vec<MetricDescription>,
    families: Families,
    managers: ManagerLabels,
    types: TypeLabels,
    activity: Activity,
    custom: CustomMetrics,
    exemplars: Exemplars,
    trace_ids: Option<TraceIds>,
}

/// The queue of one operator: a gauge and a histogram per priority, highest first.
#[derive(Debug, Clone)]
pub(crate) struct QueueMetrics([(IntGauge, Histogram); Priority::ALL.len()]);

/// The steps of the reconciles of one operator: the time spent in each.
#[derive(Debug, Clone)]
pub(crate) struct StepMetrics([Counter; ReconcileStep::ALL.len()]);

impl Metrics {
    /// Metrics that start at zero, in their own registry.
    ///
    /// # Panics
    /// Never: all names are constants, and each is registered once.
    pub fn new() -> Self {
        Self::with_trace_ids(None)
    }

    /// The same, with exemplars of reconciles that are traced.
    pub(crate) fn with_trace_ids(trace_ids: Option<TraceIds>) -> Self {
        let mut registrar = Registrar::new();
        let families = Families::register(&mut registrar).expect("names are valid and differ");
        process::register(&mut registrar).expect("names are valid and differ");
        families.build_info.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
        let Registrar { registry, described } = registrar;
        let (managers, types, activity, custom, exemplars) = <_>::default();
        Self(Arc::new(Inner {
            registry,
            described,
            families,
            managers,
            types,
            activity,
            custom,
            exemplars,
            trace_ids,
        }))
    }

    /// Everything in the Prometheus text format.
    ///
    /// # Panics
    /// Never: the text encoder fails only on families without a name.
    pub fn render(&self) -> String {
        TextEncoder::new().encode_to_string(&self.gather()).expect("every family has a name")
    }

    /// Everything as `OpenMetrics` 1.0, with the exemplars.
    pub fn render_openmetrics(&self) -> String {
        openmetrics::encode(&self.gather(), &self.0.exemplars)
    }

    fn gather(&self) -> Vec<MetricFamily> {
        let mut families = self.0.registry.gather();
        families.extend(self.custom().gather());
        families
    }

    /// Every metric that [`Metrics::render`] can show, including those without a value.
    pub fn described(&self) -> &[MetricDescription] {
        &self.0.described
    }

    /// Registers types that will be counted, so that two versions of one type get different labels.
    pub(crate) fn tell_apart(&self, types: &[&K8sType]) {
        self.0.types.tell_apart(types);
    }

    pub(super) fn forget_label(&self, ty: &K8sType) {
        self.0.types.forget(ty);
    }

    pub(crate) fn type_label(&self, ty: &K8sType) -> String {
        self.0.types.label(ty)
    }

    /// The content type of [`Metrics::render`].
    pub(crate) const CONTENT_TYPE: &'static str = prometheus::TEXT_FORMAT;

    /// The content type of [`Metrics::render_openmetrics`].
    pub(crate) const OPENMETRICS_TYPE: &'static str = openmetrics::CONTENT_TYPE;

    pub(super) fn exemplars(&self) -> &Exemplars {
        &self.0.exemplars
    }

    pub(super) fn custom(&self) -> &CustomMetrics {
        &self.0.custom
    }

    pub(super) fn families(&self) -> &Families {
        &self.0.families
    }
}

// === reconciles ===

impl Metrics {
    /// A reconcile started; [`Metrics::reconcile_finished`] ends it.
    pub(crate) fn reconcile_started(&self, operator: &OperatorName) {
        self.families().in_flight.with_label_values(&[operator.as_str()]).inc();
    }

    pub(crate) fn reconcile_finished(
        &self,
        operator: &OperatorName,
        outcome: &Outcome,
        took: Duration,
        trace: Option<Trace>,
    ) {
        let (families, operator) = (self.families(), operator.as_str());
        families.in_flight.with_label_values(&[operator]).dec();
        families.reconciles.with_label_values(&[operator, outcome.name()]).inc();
        families.reconcile_duration.with_label_values(&[operator]).observe(took.as_secs_f64());
        if let Some(trace) = trace {
            self.exemplars().insert(operator, outcome.name(), took, trace);
        }
    }

    /// The trace of a reconcile that ends at this time, if it is traced.
    pub(crate) fn trace(&self, span: &Span, ended: SystemTime) -> Option<Trace> {
        let id = self.0.trace_ids.as_ref()?(span)?;
        Some(Trace { id, ended })
    }

    /// The metrics of the queue of an operator, with zero for every priority.
    pub(crate) fn queue(&self, operator: &OperatorName) -> QueueMetrics {
        let families = self.families();
        QueueMetrics(Priority::ALL.map(|priority| {
            let labels = &[operator.as_str(), priority.name()];
            let depth = families.queued.with_label_values(labels);
            (depth, families.queue_wait.with_label_values(labels))
        }))
    }

    /// The mailbox depth of an actor; `kind` is one word, `of` names its operator or type.
    pub(crate) fn mailbox(&self, kind: &str, of: &str) -> MailboxDepth {
        let gauge = self.families().mailbox_depth.with_label_values(&[kind, of]);
        MailboxDepth::new(gauge, self.activity().clone())
    }

    /// The work of the process. It is not exported.
    pub(crate) fn activity(&self) -> &Activity {
        &self.0.activity
    }

    /// The metrics of the steps of an operator's reconciles.
    pub(crate) fn steps(&self, operator: &OperatorName) -> StepMetrics {
        let durations = &self.families().step_duration;
        let of =
            |step: ReconcileStep| durations.with_label_values(&[operator.as_str(), step.name()]);
        StepMetrics(ReconcileStep::ALL.map(of))
    }

    /// A failed reconcile will be retried.
    pub(crate) fn backed_off(&self, operator: &OperatorName) {
        self.families().backoffs.with_label_values(&[operator.as_str()]).inc();
    }

    /// An operator, what it watches with or one of its parents was restarted after a panic.
    pub(crate) fn restarted(&self, operator: &OperatorName) {
        self.families().restarts.with_label_values(&[operator.as_str()]).inc();
    }

    pub(crate) fn handler_panicked(&self, operator: &OperatorName) {
        self.families().panics.with_label_values(&[operator.as_str()]).inc();
    }

    /// A handler exceeded its timeout.
    pub(crate) fn handler_overdue(&self, operator: &OperatorName) {
        self.families().timeouts.with_label_values(&[operator.as_str()]).inc();
    }

    /// Sets how many running handlers have exceeded their timeout.
    pub(crate) fn handlers_overdue(&self, operator: &OperatorName, handlers: usize) {
        let overdue = self.families().overdue.with_label_values(&[operator.as_str()]);
        overdue.set(gauge(handlers));
    }
}

impl StepMetrics {
    /// Adds the durations of a reconcile's steps.
    pub(crate) fn took(&self, times: StepTimes) {
        for (step, took) in times.taken() {
            self.0[step as usize].inc_by(took.as_secs_f64());
        }
    }
}

impl QueueMetrics {
    /// Sets how many parents of a priority wait.
    pub(crate) fn depth(&self, priority: Priority, waiting: usize) {
        self.of(priority).0.set(gauge(waiting));
    }

    /// Observes how long a parent waited for its permit.
    pub(crate) fn waited(&self, priority: Priority, waited: Duration) {
        self.of(priority).1.observe(waited.as_secs_f64());
    }

    fn of(&self, priority: Priority) -> &(IntGauge, Histogram) {
        &self.0[priority as usize]
    }
}

// === writes ===

impl Metrics {
    pub(crate) fn child_written(&self, operator: &OperatorName, ty: &K8sType, verb: Verb) {
        let labels = [operator.as_str(), &self.type_label(ty), verb.name()];
        self.families().child_writes.with_label_values(&labels).inc();
    }

    /// A write of a child changed nothing on the server.
    pub(crate) fn noop_write(&self, operator: &OperatorName, ty: &K8sType) {
        let labels = [operator.as_str(), &self.type_label(ty)];
        self.families().noop_writes.with_label_values(&labels).inc();
    }

    pub(crate) fn drift_repaired(
        &self,
        operator: &OperatorName,
        ty: &K8sType,
        manager: Option<&str>,
        fields: usize,
    ) {
        let manager = self.0.managers.label(manager);
        let labels = [operator.as_str(), &self.type_label(ty), manager];
        let counter = self.families().drift_repaired.with_label_values(&labels);
        counter.inc_by(u64::try_from(fields).unwrap_or(u64::MAX));
    }

    /// A repeated write happened; `reason` is one word.
    pub(crate) fn flapping(&self, operator: &OperatorName, reason: &str) {
        self.families().flapping.with_label_values(&[operator.as_str(), reason]).inc();
    }

    pub(crate) fn children_unchanged(&self, operator: &OperatorName, children: usize) {
        let counter = self.families().unchanged.with_label_values(&[operator.as_str()]);
        counter.inc_by(u64::try_from(children).unwrap_or(u64::MAX));
    }

    /// An object that is not owned has the name of a child.
    pub(crate) fn conflict(&self, operator: &OperatorName, ty: &K8sType) {
        let labels = [operator.as_str(), &self.type_label(ty)];
        self.families().conflicts.with_label_values(&labels).inc();
    }

    /// Deletions of children are held because they are too many.
    pub(crate) fn deletions_held(&self, operator: &OperatorName, deletions: usize) {
        let counter = self.families().deletions_held.with_label_values(&[operator.as_str()]);
        counter.inc_by(u64::try_from(deletions).unwrap_or(u64::MAX));
    }

    pub(crate) fn status_written(&self, operator: &OperatorName) {
        self.families().status_writes.with_label_values(&[operator.as_str()]).inc();
    }
}

// === the API server ===

impl Metrics {
    /// A request ended; `code` is `None` if no answer came. For a watch and for large answers `took`
    /// ends when the answer begins.
    pub(crate) fn api_request(&self, verb: &str, ty: &K8sType, code: Option<u16>, took: Duration) {
        let (families, resource) = (self.families(), self.type_label(ty));
        let code = code.map_or_else(|| "none".to_owned(), |code| code.to_string());
        families.api_requests.with_label_values(&[verb, &resource, &code]).inc();
        let durations = families.api_duration.with_label_values(&[verb]);
        durations.observe(took.as_secs_f64());
    }

    pub(crate) fn watch_event(&self, ty: &K8sType) {
        self.families().watch_events.with_label_values(&[&self.type_label(ty)]).inc();
    }

    /// A watch restarted; `reason` is one word.
    pub(crate) fn watch_restarted(&self, ty: &K8sType, reason: &str) {
        self.families().watch_restarts.with_label_values(&[&self.type_label(ty), reason]).inc();
    }

    /// The server returned an earlier resourceVersion.
    pub(crate) fn version_regressions(&self, ty: &K8sType) {
        self.families().version_regressed.with_label_values(&[&self.type_label(ty)]).inc();
    }

    pub(crate) fn undecodable(&self, ty: &K8sType) {
        self.families().undecodable.with_label_values(&[&self.type_label(ty)]).inc();
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

pub(super) fn gauge(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
