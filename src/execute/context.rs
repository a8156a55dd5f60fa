//! The state that all reconciles of one operator share.

use std::{
    collections::BTreeMap,
    ops::Deref,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use tokio::sync::{RwLock, Semaphore};

use super::{
    Alive, Gate, ParentTypes, RequestPermits, SharedPermits, Undeclared,
    clock::now,
    event_queue::EventQueue,
    labelling::Labelling,
    schema::{CachedSchema, OtherSchemas},
    timed_out::TimedOut,
    warn_once::WarnOnce,
};
use crate::{
    cluster::Cluster,
    election::{Bucket, BucketFence, Buckets, Busy},
    journal::Failure,
    metrics::{Metrics, StepMetrics},
    object::{K8sType, Object, Uid},
    operator::{
        Allowance, AnyHandler, ConditionNames, ConfigError, HandlerMetrics, OperatorConfig,
        OperatorName, Pause,
    },
    plan::{DeletionBudget, Exceeded, Reservation},
    related::Reads,
    reply::{ApiError, TypeSchema},
    report::EventLog,
    run::Settings,
    store::{Change, Store},
};

/// The parent whose reconcile made a change; it is not notified.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    pub(crate) operator: OperatorName,
    pub(crate) parent: Uid,
}

/// Notifies all operators that watch a type of a change by a reply or a live read, except the origin.
pub(crate) type Publish = Arc<dyn Fn(&K8sType, Change, Option<Origin>) + Send + Sync>;

pub(crate) type Show = Arc<dyn Fn(&Object, &Failure) + Send + Sync>;

#[derive(Clone)]
pub(crate) struct ContextParts {
    pub(crate) config: OperatorConfig,
    pub(crate) handler: AnyHandler,
    pub(crate) cluster: Cluster,
    pub(crate) parents: Store,
    /// The stores of the child types, in the order of declaration.
    pub(crate) children: Vec<Store>,
    /// The related objects that its parents read.
    pub(crate) reads: Arc<Reads>,
    /// The permits that it shares with other operators.
    pub(crate) shared_permits: SharedPermits,
    pub(crate) requests: RequestPermits,
    /// In which buckets the process works; `None` if it works in all.
    pub(crate) buckets: Option<BucketFence>,
    pub(crate) metrics: Metrics,
    /// The operators of the process.
    pub(crate) parent_types: ParentTypes,
    pub(crate) publish: Publish,
    pub(crate) show: Show,
    /// Held by the operator and its tasks.
    #[expect(dead_code, reason = "its end is the message")]
    pub(crate) alive: Alive,
}

/// Another process works in the bucket of a parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Elsewhere;

/// The settings and the state that all reconciles of one operator share.
pub(crate) struct Context {
    pub(crate) settings: Arc<Settings>,
    pub(crate) parts: ContextParts,
    state: Arc<LastingState>,
}

/// What remains when the operator is reconfigured.
pub(crate) struct LastingState {
    gate: Gate,
    /// Of the parents.
    pub(super) schema: CachedSchema,
    pub(super) other_schemas: OtherSchemas,
    pub(crate) undeclared: Undeclared,
    /// Whether the type of the parents declares another status than when they were reconciled.
    redefined: AtomicBool,
    pub(super) warned: WarnOnce,
    budget: Mutex<DeletionBudget>,
    events: EventQueue,
    undecodable: Mutex<EventLog>,
    /// The pause of the operator, which may be over; only `pause` uses it.
    pub(super) paused: Mutex<Option<Arc<Pause>>>,
    /// Why the operator cannot start, by namespace; `None` for all namespaces.
    unavailable: Mutex<BTreeMap<Option<String>, String>>,
    pub(super) timed_out: TimedOut,
    pub(crate) labelling: Labelling,
    pub(super) steps: StepMetrics,
    /// What the handler counts itself.
    pub(super) handler_metrics: HandlerMetrics,
    pub(super) previews: Arc<Semaphore>,
    /// Held while a user's command is sent: the shutdown waits for it.
    pub(super) commands: RwLock<()>,
    /// Limits concurrent reads of Events outside of reconciles to two.
    pub(super) event_readers: Semaphore,
}

impl Context {
    pub(crate) fn new(parts: ContextParts) -> Result<Self, ConfigError> {
        let settings =
            Arc::new(Settings::new(parts.config.clone(), parts.handler.has_finalizer())?);
        parts.parent_types.add(&settings);
        let (limit, shared_permits) =
            (parts.config.max_concurrent_reconciles, parts.shared_permits.clone());
        let (schema, undeclared, redefined, warned, budget, events) = <_>::default();
        let (paused, unavailable, timed_out, other_schemas, labelling) = <_>::default();
        let state = LastingState {
            gate: Gate::new(limit, shared_permits, parts.metrics.queue(settings.name())),
            steps: parts.metrics.steps(settings.name()),
            handler_metrics: parts.metrics.of_handler(settings.name()),
            undecodable: Mutex::new(EventLog::new(Instant::now())),
            schema,
            other_schemas,
            undeclared,
            redefined,
            warned,
            budget,
            events,
            paused,
            unavailable,
            timed_out,
            labelling,
            previews: Arc::new(Semaphore::new(1)),
            commands: RwLock::default(),
            event_readers: Semaphore::new(2),
        };
        Ok(Self { settings, parts, state: Arc::new(state) })
    }

    /// The same operator with another configuration. Both share one state, so that reconciles of both keep the limits.
    pub(crate) fn reconfigured(
        &self,
        config: OperatorConfig,
        children: Vec<Store>,
    ) -> Result<Self, ConfigError> {
        let settings = Arc::new(Settings::new(config.clone(), self.settings.has_finalizer)?);
        self.parts.parent_types.add(&settings);
        self.gate().set_limit(config.max_concurrent_reconciles);
        let parts = ContextParts { config, children, ..self.parts.clone() };
        Ok(Self { settings, parts, state: self.state.clone() })
    }

    /// The same operator, which selects no parent any more.
    pub(crate) fn finalizing(&self) -> Self {
        let settings = Arc::new(self.settings.finalizing());
        self.parts.parent_types.add(&settings);
        Self { settings, parts: self.parts.clone(), state: self.state.clone() }
    }

    pub(crate) fn config(&self) -> &OperatorConfig {
        self.settings.config()
    }

    pub(crate) fn name(&self) -> &OperatorName {
        self.settings.name()
    }

    /// The types of the framework's conditions in the status of a parent.
    pub(super) fn condition_names(&self, parent: &Object) -> ConditionNames {
        let others = self.parts.parent_types.others(self.name(), parent.ty());
        let siblings = others.iter().filter_map(|it| it.as_sibling(parent)).collect();
        self.settings.condition_names(&self.settings.beside(siblings))
    }

    /// Whether a cached parent belongs to the operator. One that left the selection of a decorator does until
    /// its children are gone.
    pub(crate) fn answers_for(&self, parent: &Object) -> bool {
        let is_mine = |child: &Object| self.settings.manages(child);
        let has_children = || {
            let mut stores = self.parts.children.iter();
            stores.any(|store| store.reader().of_parent(parent.uid()).iter().any(is_mine))
        };
        self.works_for(parent.uid())
            && (self.settings.answers_for(parent)
                || (self.settings.takes_leave(parent) && has_children()))
    }

    /// Whether the process works in the bucket of a parent.
    pub(crate) fn works_for(&self, parent: &Uid) -> bool {
        let buckets = self.parts.buckets.as_ref();
        buckets.is_none_or(|fence| fence.works().has(Bucket::of(parent)))
    }

    /// Begins a reconcile of a parent, or a command for it. Another process works for it, if that is an error.
    pub(super) fn begin(&self, parent: &Uid) -> Result<Option<Busy>, Elsewhere> {
        let Some(fence) = &self.parts.buckets else { return Ok(None) };
        fence.begin(Bucket::of(parent)).map(Some).ok_or(Elsewhere)
    }

    /// Whether a reconcile of the parent may write.
    pub(super) fn may_write(&self, parent: &Uid) -> bool {
        let buckets = self.parts.buckets.as_ref();
        buckets.is_none_or(|fence| fence.may_write(Bucket::of(parent)))
    }

    /// Whether the handler awaits what it calls.
    pub(crate) fn is_async(&self) -> bool {
        self.parts.handler.is_async()
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.parts.metrics
    }

    /// Starts no further reconcile, and returns when none is in flight and all commands and Events are sent.
    pub(crate) async fn drain(&self) {
        self.gate.close();
        self.gate.idle().await;
        drop(self.commands.write().await);
        self.events().flush().await;
    }

    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Forgets the schema of the parents, because the type may have been replaced.
    pub(crate) fn forget_schema(&self) {
        self.schema.forget();
    }

    /// The schema of the parents may be another one. Until it is read again the known one counts.
    pub(crate) fn outdate_schema(&self) {
        self.schema.outdate();
    }

    /// Reads the schema of the parents, unless that was done recently.
    pub(crate) async fn read_schema_again(&self) {
        // An error is reported by the next reconcile that writes a status.
        let _ = self.schema().await;
    }

    /// Whether the type of the parents declares another status than at the last call.
    pub(crate) fn was_redefined(&self) -> bool {
        self.redefined.swap(false, Ordering::Relaxed)
    }

    /// Whether something is not written because the type of the parents does not declare it, as far as was known a while
    /// ago, or whether that could not be read.
    pub(crate) fn has_old_schema(&self) -> bool {
        let matters = || self.schema.is_failing() || !self.undeclared.fields().is_empty();
        self.schema.fresh().is_none() && matters()
    }

    /// Why the schema of the parents cannot be read for a longer time.
    pub(crate) fn why_schema_unread(&self, now: Instant) -> Option<String> {
        let why = self.schema.why_unread(now)?;
        let ty = self.config().parent.resource_name();
        Some(format!("the schema of {ty} cannot be read, and the last known one is used: {why}"))
    }

    /// Reads the schema of the parents before the first reconcile. An error is reported by that reconcile.
    pub(crate) async fn read_schema_ahead(&self) {
        if !self.parts.parents.reader().is_empty() {
            let _ = self.schema().await;
        }
    }

    /// Records why the operator cannot start in a namespace, or for `None` in all, until an administrator fixes it,
    /// or that it can. Returns whether that changed; the caller then reconciles the parents.
    pub(crate) fn set_unavailable(&self, namespace: Option<&str>, why: Option<String>) -> bool {
        let mut known = self.unavailable();
        let namespace = namespace.map(str::to_owned);
        if known.get(&namespace) == why.as_ref() {
            return false;
        }
        match why {
            Some(why) => known.insert(namespace, why),
            None => known.remove(&namespace),
        };
        true
    }

    pub(super) fn why_unavailable(&self, namespace: Option<&str>) -> Option<String> {
        let known = self.unavailable();
        known.get(&namespace.map(str::to_owned)).or_else(|| known.get(&None)).cloned()
    }

    fn unavailable(&self) -> MutexGuard<'_, BTreeMap<Option<String>, String>> {
        self.unavailable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn show(&self, parent: &Object, failure: &Failure) {
        (self.parts.show)(parent, failure);
    }

    pub(super) fn notify(&self, ty: &K8sType, change: Change, origin: Option<Origin>) {
        (self.parts.publish)(ty, change, origin);
    }

    pub(super) fn store(&self, ty: &K8sType) -> Option<&Store> {
        let mut stores = std::iter::once(&self.parts.parents).chain(&self.parts.children);
        stores.find(|store| store.reader().ty() == ty)
    }

    /// The schema of the parents; `None` until the server publishes it.
    pub(super) async fn schema(&self) -> Result<Option<Arc<TypeSchema>>, ApiError> {
        let read = self.schema.get(&self.parts.cluster, &self.config().parent).await;
        if let Ok(Some(schema)) = &read
            && self.undeclared.forget_unless_of(schema)
        {
            self.redefined.store(true, Ordering::Relaxed);
        }
        read
    }

    /// Reads the schemas of other types, unless that was done recently, and then that of the parents. What cannot be read
    /// of the others stays unknown.
    pub(super) async fn schemas(
        &self,
        others: Vec<K8sType>,
    ) -> Result<Option<Arc<TypeSchema>>, ApiError> {
        let read = |ty: K8sType| async move {
            // An error is not reported: it is retried by the next reconcile that needs it.
            let _ = self.other_schemas.of(&ty).get(&self.parts.cluster, &ty).await;
        };
        futures::future::join_all(others.into_iter().map(read)).await;
        self.schema().await
    }

    pub(super) fn events(&self) -> &EventQueue {
        &self.events
    }

    pub(super) fn undecodable(&self) -> MutexGuard<'_, EventLog> {
        self.undecodable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn budget(&self) -> MutexGuard<'_, DeletionBudget> {
        self.budget.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves deletions from the budget, all or none.
    pub(super) fn reserve(
        &self,
        allowance: Allowance,
        deletions: usize,
    ) -> Result<Reservation, Exceeded> {
        let children = || self.count_children();
        let allowance = match &self.parts.buckets {
            Some(fence) => allowance.within(fence.works().len(), Buckets::ALL.len()),
            None => allowance,
        };
        self.budget().take(allowance, deletions, now().monotonic, children)
    }
}

impl Deref for Context {
    type Target = LastingState;

    fn deref(&self) -> &LastingState {
        &self.state
    }
}
