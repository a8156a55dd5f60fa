//! What all runs of one operator share.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    time::Instant,
};

use tokio::sync::{RwLock, Semaphore};

use super::{
    CommonPlaces, EventLog, Failure, Gate, events::EventQueue, finalize, overdue::Overdue,
    said::Said, schema::ParentSchema,
};
use crate::{
    cluster::{ApiError, Cluster, TypeSchema},
    metrics::{Metrics, StepMetrics},
    object::{K8sType, Object, ObjectKey, Uid, Undecodable},
    operator::{Children, ConfigError, Handler, OperatorConfig, OperatorName, Selection},
    plan::Minute,
    schedule::{Backoff, Policy},
    store::{Change, Store},
};

/// The parent whose run made a change: its own operator need not be told.
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

/// Shows what is wrong with a parent while its run is still under way.
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
    /// Where its runs go beyond its own places.
    pub common_places: CommonPlaces,
    /// Where runs are counted.
    pub metrics: Metrics,
    /// Where changes by our own replies go.
    pub publish: Publish,
    /// Where an overdue handler is shown.
    pub show: Show,
}

/// What all runs of one operator share.
pub struct Context {
    name: OperatorName,
    parts: ContextParts,
    selection: Selection,
    gate: Gate,
    schema: ParentSchema,
    pub(super) said: Said,
    minute: Mutex<Minute>,
    events: EventQueue,
    undecodable: Mutex<EventLog>,
    paused: AtomicBool,
    unavailable: Mutex<Option<String>>,
    overdue: Overdue,
    steps: StepMetrics,
    previews: Arc<Semaphore>,
    /// Held by those who send what a person ordered: the end waits for them.
    pub(super) orders: RwLock<()>,
    /// The right to ask for Events beside the runs: for two who look at a time.
    pub(super) event_readers: Semaphore,
}

impl Context {
    /// The shared part of an operator's runs.
    pub fn new(parts: ContextParts) -> Result<Self, ConfigError> {
        parts.config.validate()?;
        let name = parts.config.operator_name()?;
        let (limit, common) = (parts.config.max_concurrent_runs, parts.common_places.clone());
        let (schema, said, minute, events, paused, unavailable, overdue) = <_>::default();
        Ok(Self {
            selection: parts.config.selection()?,
            gate: Gate::new(limit, common, parts.metrics.queue(&name)),
            steps: parts.metrics.steps(&name),
            undecodable: Mutex::new(EventLog::new(Instant::now())),
            name,
            parts,
            schema,
            said,
            minute,
            events,
            paused,
            unavailable,
            overdue,
            previews: Arc::new(Semaphore::new(1)),
            orders: RwLock::default(),
            event_readers: Semaphore::new(2),
        })
    }

    /// The operator's configuration.
    pub fn config(&self) -> &OperatorConfig {
        &self.parts.config
    }

    /// Whether a parent in the store, whose watch may be wider, is one of the operator's. One that
    /// left the selection is until it is finalized.
    pub fn answers_for(&self, parent: &Object) -> bool {
        self.selects(parent)
            || (self.selection.is_here(parent) && finalize::holds_ours(self, parent))
    }

    /// Whether an object that cannot be read may be one of the operator's parents.
    pub(super) fn may_answer_for(&self, object: &Undecodable) -> bool {
        self.selection.may_select(object)
    }

    /// Whether a parent is on its way out: of the cluster, or of the selection.
    pub fn is_leaving(&self, parent: &Object) -> bool {
        parent.is_deleting() || !self.selects(parent)
    }

    /// Whether a parent is to be synced as far as the selection is concerned.
    pub(super) fn selects(&self, parent: &Object) -> bool {
        self.selection.selects(parent)
    }

    /// Whether our finalizer is on a parent.
    pub(super) fn holds(&self, parent: &Object) -> bool {
        parent.finalizers().contains(&self.name.finalizer())
    }

    /// Whether our finalizer belongs on the parents.
    pub(super) fn needs_finalizer(&self) -> bool {
        self.config().needs_finalizer(&**self.handler())
    }

    /// Whether the watch of the parents shows also those that are not selected.
    pub(super) fn sees_all_parents(&self) -> bool {
        self.config().sees_all_parents(&**self.handler())
    }

    /// The operator's name.
    pub fn name(&self) -> &OperatorName {
        &self.name
    }

    /// The operator's code.
    pub fn handler(&self) -> &Arc<dyn Handler> {
        &self.parts.handler
    }

    /// Where runs are counted.
    pub fn metrics(&self) -> &Metrics {
        &self.parts.metrics
    }

    /// Where the steps of runs are counted.
    pub(super) fn steps(&self) -> &StepMetrics {
        &self.steps
    }

    /// The right to ask the handler beside the runs: one at a time.
    pub(super) fn previews(&self) -> &Arc<Semaphore> {
        &self.previews
    }

    /// Starts no further run, and returns when none is in flight, what persons ordered was sent, and
    /// all Events are told.
    pub async fn drain(&self) {
        self.gate.close();
        self.gate.idle().await;
        drop(self.orders.write().await);
        self.events.told().await;
    }

    /// Who may run, and who is next.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// How the operator's parents are scheduled.
    pub fn policy(&self) -> Policy {
        let config = self.config();
        let backoff = Backoff { min: config.min_error_backoff, max: config.max_error_backoff };
        Policy { backoff, debounce: config.debounce }
    }

    /// Forgets what the parent's status may hold, because the type may have been replaced.
    pub fn forget_schema(&self) {
        self.schema.forget();
    }

    /// Reads what the parent's status may hold before a run asks. Where that fails, the run says so.
    pub async fn read_schema_ahead(&self) {
        if !self.parts.parents.reader().is_empty() {
            let _ = self.schema().await;
        }
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

    /// The cached parent, if it is still the one with this uid.
    pub(super) fn parent(&self, key: &ObjectKey, uid: &Uid) -> Option<Object> {
        self.parts.parents.reader().get(key).filter(|parent| parent.uid() == uid)
    }

    /// The cached object of a type.
    pub(super) fn cached(&self, ty: &K8sType, key: &ObjectKey) -> Option<Object> {
        self.store(ty)?.reader().get(key)
    }

    /// The object of a type that cannot be read in its newest version.
    pub(super) fn left_out(&self, ty: &K8sType, key: &ObjectKey) -> Option<Undecodable> {
        self.store(ty)?.reader().undecodable(key)
    }

    /// The children of a parent that cannot be read in their newest version.
    pub(super) fn left_out_of(&self, parent: &Object) -> Vec<Undecodable> {
        let children = self.parts.children.iter();
        children.flat_map(|store| store.reader().left_out_of(parent.uid())).collect()
    }

    /// The cached objects that name the parent, ours or not.
    pub(super) fn observed(&self, parent: &Object) -> Children {
        let of_store = |store: &Store| {
            let reader = store.reader();
            (reader.ty().clone(), reader.of_parent(parent.uid()))
        };
        Children::new(self.parts.children.iter().map(of_store))
    }

    /// The child types whose absence from the cache proves nothing to a parent.
    /// (Nor does that of any child, when the parent itself may be one of earlier.)
    pub(super) fn unsynced(&self, parent: &Object) -> BTreeSet<K8sType> {
        let may_delete = |store: &Store| {
            let reader = store.reader();
            let is_anywhere = self.config().uncollectable().any(|ty| ty == reader.ty());
            match self.config().namespaces.names() {
                _ if !is_anywhere => reader.may_delete(parent.namespace()),
                // What other operators watch elsewhere is nothing to this one.
                Some(names) if reader.ty().is_namespaced() => {
                    names.iter().all(|name| reader.may_delete(Some(name)))
                }
                Some(_) | None => reader.may_delete(None),
            }
        };
        let is_old = self.may_be_old(parent);
        let unsynced = self.parts.children.iter().filter(|store| is_old || !may_delete(store));
        unsynced.map(|store| store.reader().ty().clone()).collect()
    }

    /// Whether a parent may be another by now without our having been told.
    pub(super) fn may_be_old(&self, parent: &Object) -> bool {
        !self.parts.parents.reader().may_delete(parent.namespace())
    }

    /// What the schema of the parents says; `None` while the server has yet to publish it.
    pub(super) async fn schema(&self) -> Result<Option<Arc<TypeSchema>>, ApiError> {
        self.schema.get(self.cluster(), &self.config().parent).await
    }

    /// The same as it was last read, if it was.
    pub(super) fn known_schema(&self) -> Option<Arc<TypeSchema>> {
        self.schema.known_to_be()
    }

    /// The Events that are on their way.
    pub(super) fn events(&self) -> &EventQueue {
        &self.events
    }

    /// What was told of objects that cannot be read.
    pub(super) fn undecodable(&self) -> MutexGuard<'_, EventLog> {
        self.undecodable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What keeps the operator from starting; only `unavailable` looks at it.
    pub(super) fn unavailable(&self) -> &Mutex<Option<String>> {
        &self.unavailable
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
    pub(super) fn minute(&self) -> MutexGuard<'_, Minute> {
        self.minute.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many children the operator has; looks at all of them.
    pub(super) fn count_children(&self) -> usize {
        let label = &self.config().labels.managed_by;
        let is_ours = |child: &Object| child.label(label).as_deref() == Some(self.name.as_str());
        let count = |store: &Store| store.reader().list().into_iter().filter(is_ours).count();
        self.parts.children.iter().map(count).sum()
    }

    pub(super) fn store(&self, ty: &K8sType) -> Option<&Store> {
        let mut stores = std::iter::once(&self.parts.parents).chain(&self.parts.children);
        stores.find(|store| store.reader().ty() == ty)
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context({})", self.name)
    }
}

impl fmt::Debug for ContextParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContextParts({})", self.config.name)
    }
}
