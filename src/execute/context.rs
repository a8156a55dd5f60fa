//! What all runs of one operator share.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    time::Instant,
};

use tokio::sync::{RwLock, Semaphore};

use super::{
    Gate, RequestPermits, SharedPermits, Undeclared, event_queue::EventQueue, overdue::Overdue,
    schema::ParentSchema, warn_once::WarnOnce,
};
use crate::{
    cluster::Cluster,
    journal::Failure,
    metrics::{Metrics, StepMetrics},
    object::{K8sType, Object, Uid},
    operator::{Allowance, ConfigError, Handler, OperatorConfig, OperatorName},
    plan::{DeletionBudget, Exceeded, Reservation},
    reply::{ApiError, TypeSchema},
    report::EventLog,
    run::{Settings, Snapshot},
    schedule::Policy,
    store::{Change, Store},
};

/// The parent whose reconcile made a change: its own operator need not be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The operator.
    pub operator: OperatorName,
    /// The parent.
    pub parent: Uid,
}

/// Tells everyone who watches a type that a reply or a live read of ours changed its store: all
/// but the origin, who knows what it wrote.
pub type Publish = Arc<dyn Fn(&K8sType, Change, Option<Origin>) + Send + Sync>;

/// Shows what is wrong with a parent while its reconcile is still under way.
pub type Show = Arc<dyn Fn(&Object, &Failure) + Send + Sync>;

/// What a [`Context`] is made of.
pub struct ContextParts {
    /// The operator.
    pub config: OperatorConfig,
    /// Its code.
    pub handler: Arc<dyn Handler>,
    /// The API server.
    pub cluster: Cluster,
    /// The store of the parent type.
    pub parents: Store,
    /// The stores of the child types, in the order of declaration.
    pub children: Vec<Store>,
    /// Where its reconciles go beyond its own places.
    pub shared_permits: SharedPermits,
    /// The right to send requests.
    pub requests: RequestPermits,
    /// Where runs are counted.
    pub metrics: Metrics,
    /// Where changes by our own replies go.
    pub publish: Publish,
    /// Where an overdue handler is shown.
    pub show: Show,
}

/// What all reconciles of one operator share.
pub struct Context {
    settings: Arc<Settings>,
    parts: ContextParts,
    gate: Gate,
    schema: ParentSchema,
    undeclared: Undeclared,
    warned: WarnOnce,
    budget: Mutex<DeletionBudget>,
    events: EventQueue,
    undecodable: Mutex<EventLog>,
    paused: AtomicBool,
    unavailable: Mutex<Option<String>>,
    overdue: Overdue,
    steps: StepMetrics,
    previews: Arc<Semaphore>,
    /// Held by those who send what a person ordered: the end waits for them.
    pub(super) orders: RwLock<()>,
    /// The right to ask for Events beside the reconciles: for two who look at a time.
    pub(super) event_readers: Semaphore,
}

impl Context {
    /// The shared part of an operator's reconciles.
    pub fn new(parts: ContextParts) -> Result<Self, ConfigError> {
        let settings = Settings::new(parts.config.clone(), &*parts.handler)?;
        let (limit, common) =
            (parts.config.max_concurrent_reconciles, parts.shared_permits.clone());
        let (schema, undeclared, warned, budget, events) = <_>::default();
        let (paused, unavailable, overdue) = <_>::default();
        Ok(Self {
            gate: Gate::new(limit, common, parts.metrics.queue(settings.name())),
            steps: parts.metrics.steps(settings.name()),
            undecodable: Mutex::new(EventLog::new(Instant::now())),
            settings: Arc::new(settings),
            parts,
            schema,
            undeclared,
            warned,
            budget,
            events,
            paused,
            unavailable,
            overdue,
            previews: Arc::new(Semaphore::new(1)),
            orders: RwLock::default(),
            event_readers: Semaphore::new(2),
        })
    }

    /// What follows from the operator's configuration.
    pub fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    /// The operator's configuration.
    pub fn config(&self) -> &OperatorConfig {
        self.settings.config()
    }

    /// The operator's name.
    pub fn name(&self) -> &OperatorName {
        self.settings.name()
    }

    /// Whether a parent in the store, whose watch may be wider, is one of the operator's.
    pub fn answers_for(&self, parent: &Object) -> bool {
        self.settings.answers_for(parent)
    }

    /// Whether a parent goes: from the cluster, or from the selection.
    pub fn is_leaving(&self, parent: &Object) -> bool {
        self.settings.is_leaving(parent)
    }

    /// How the operator's parents are scheduled.
    pub fn policy(&self) -> Policy {
        self.settings.policy()
    }

    /// The operator's code.
    pub fn handler(&self) -> &Arc<dyn Handler> {
        &self.parts.handler
    }

    /// Where reconciles are counted.
    pub fn metrics(&self) -> &Metrics {
        &self.parts.metrics
    }

    /// Where the steps of reconciles are counted.
    pub(super) fn steps(&self) -> &StepMetrics {
        &self.steps
    }

    /// The right to ask the handler beside the reconciles: one at a time.
    pub(super) fn previews(&self) -> &Arc<Semaphore> {
        &self.previews
    }

    /// Starts no further reconcile, and returns when none is in flight, what people commanded was sent, and
    /// all Events are sent.
    pub async fn drain(&self) {
        self.gate.close();
        self.gate.idle().await;
        drop(self.orders.write().await);
        self.events.told().await;
    }

    /// Who may reconcile, and who is next.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Forgets what the parent's status may hold, because the type may have been replaced.
    pub fn forget_schema(&self) {
        self.schema.forget();
    }

    /// Reads what the parent's status may hold before a reconcile asks. Where that fails, the reconcile says so.
    pub async fn read_schema_ahead(&self) {
        if !self.parts.parents.reader().is_empty() {
            let _ = self.schema().await;
        }
    }

    /// Notes why the operator cannot start until a person mends it, or that it can. Whether that is
    /// news; to reconcile the parents then is up to the caller.
    pub fn set_unavailable(&self, why: Option<String>) -> bool {
        let mut known = self.unavailable.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = *known != why;
        *known = why;
        is_news
    }

    /// Why the operator cannot start.
    pub(super) fn why_unavailable(&self) -> Option<String> {
        self.unavailable.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn show(&self, parent: &Object, failure: &Failure) {
        (self.parts.show)(parent, failure);
    }

    /// Tells everyone who watches a type but the origin.
    pub(super) fn tell(&self, ty: &K8sType, change: Change, origin: Option<Origin>) {
        (self.parts.publish)(ty, change, origin);
    }

    pub(super) fn cluster(&self) -> &Cluster {
        &self.parts.cluster
    }

    /// The right to send requests.
    pub(super) fn requests(&self) -> &RequestPermits {
        &self.parts.requests
    }

    /// The store of the parents.
    pub(super) fn parents(&self) -> &Store {
        &self.parts.parents
    }

    /// The stores of the children.
    pub(super) fn children(&self) -> &[Store] {
        &self.parts.children
    }

    /// The store of a type.
    pub(super) fn store(&self, ty: &K8sType) -> Option<&Store> {
        let mut stores = std::iter::once(&self.parts.parents).chain(&self.parts.children);
        stores.find(|store| store.reader().ty() == ty)
    }

    /// What is known of the type of the parents.
    pub(super) fn parent_schema(&self) -> &ParentSchema {
        &self.schema
    }

    /// What the schema of the parents says; `None` while the server has yet to publish it.
    pub(super) async fn schema(&self) -> Result<Option<Arc<TypeSchema>>, ApiError> {
        let read = self.schema.get(self.cluster(), &self.config().parent).await;
        if let Ok(Some(schema)) = &read {
            self.undeclared.forget_unless_of(schema);
        }
        read
    }

    /// What the parent's type does not declare of what was to be written.
    pub fn undeclared(&self) -> &Undeclared {
        &self.undeclared
    }

    /// The Events that are on their way.
    pub(super) fn events(&self) -> &EventQueue {
        &self.events
    }

    /// What was said once for the operator.
    pub(super) fn warned(&self) -> &WarnOnce {
        &self.warned
    }

    /// What was announced of objects that cannot be read.
    pub(super) fn undecodable(&self) -> MutexGuard<'_, EventLog> {
        self.undecodable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a person has paused the operator; only `pause` looks at it.
    pub(super) fn paused(&self) -> &AtomicBool {
        &self.paused
    }

    /// The handlers that have not returned in time.
    pub(super) fn overdue(&self) -> &Overdue {
        &self.overdue
    }

    /// What the operator has deleted within a minute.
    pub(super) fn budget(&self) -> MutexGuard<'_, DeletionBudget> {
        self.budget.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes deletions from that, all or none.
    pub(super) fn reserve(
        &self,
        allowance: Allowance,
        deletions: usize,
    ) -> Result<Reservation, Exceeded> {
        let children = || self.count_children();
        self.budget().take(allowance, deletions, Instant::now(), children)
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context({})", self.name())
    }
}

impl fmt::Debug for ContextParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContextParts({})", self.config.name)
    }
}
