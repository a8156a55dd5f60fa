//! Creates the parts of a process: what all operators share, the actors of types, and operators.

use std::{collections::BTreeSet, sync::Arc, time::Instant};

use tokio::{runtime::Handle, sync::mpsc::UnboundedSender};

use super::{RunError, connection::Clients, fences::Fences, published::PublishedTo};
use crate::{
    actors::{
        ArbiterPool, OperatorHandle, OperatorParts, OperatorStateChanged, Reflector,
        ReflectorHandle, ReflectorParts, RelatedHandle, RelatedParts, RelatedReflector, WatchParts,
    },
    board::{BEAT_EVERY, Board, OperatorInfo, Reader, ReconcileStage},
    cluster::{Cluster, WatchSpec, Watched},
    execute::{
        Alive, Context, ContextParts, Gone, ParentTypes, RequestPermits, SharedPermits, Show,
    },
    journal::Failure,
    metrics::{MailboxDepth, Metrics},
    object::{K8sType, KeptManagers, Object},
    operator::{AnyOperator, OperatorName},
    related::{Reads, Source},
    store::Store,
    web::Program,
};

/// What all parts of the process share.
pub(super) struct Wiring {
    pub(super) cluster: Cluster,
    pub(super) runtime: Handle,
    pub(super) board: Board,
    pub(super) metrics: Metrics,
    pub(super) managers: KeptManagers,
    pub(super) states: UnboundedSender<OperatorStateChanged>,
    pub(super) published: PublishedTo,
    pub(super) shared_permits: SharedPermits,
    pool: ArbiterPool,
    requests: RequestPermits,
    parent_types: ParentTypes,
}

/// The stores that an operator uses.
pub(super) struct Stores {
    pub(super) parents: Store,
    /// In the order of declaration.
    pub(super) children: Vec<Store>,
    pub(super) sources: Vec<Source>,
    /// The watches that it requires.
    pub(super) relies_on: BTreeSet<Watched>,
}

impl Wiring {
    pub(super) fn new(
        (clients, program): (Clients, &Program),
        (board, metrics): (Board, Metrics),
        runtime: Handle,
        states: UnboundedSender<OperatorStateChanged>,
        pool: ArbiterPool,
    ) -> Self {
        let managers = KeptManagers::default();
        let Clients { client, watcher } = clients;
        let cluster = Cluster::new(client, metrics.clone(), managers.clone());
        let cluster = cluster.with_settings(program.settings).with_watcher(watcher);
        let wiring = Self {
            cluster: match &program.name {
                Some((name, version)) => cluster.of_program(name, version),
                None => cluster,
            },
            runtime,
            board,
            metrics,
            managers,
            states,
            published: PublishedTo::default(),
            shared_permits: SharedPermits::for_limits([]),
            pool,
            requests: RequestPermits::default(),
            parent_types: ParentTypes::default(),
        };
        wiring.start_pulse_of_runtime();
        wiring
    }

    fn start_pulse_of_runtime(&self) {
        let board = self.board.clone();
        let pulse = board.pulse("runtime".to_owned(), Instant::now());
        self.runtime.spawn(async move {
            loop {
                tokio::time::sleep(BEAT_EVERY).await;
                let now = Instant::now();
                pulse.beat(now);
                board.sample(now);
            }
        });
    }

    /// Starts the watches of a type.
    pub(super) fn start_reflector(
        &self,
        store: &Store,
        scopes: Vec<WatchSpec>,
    ) -> (ReflectorHandle, Gone) {
        self.board.add_store(store.reader());
        let (alive, gone) = Alive::new();
        let label = self.metrics.type_label(store.reader().ty());
        let reflector = Reflector::new(ReflectorParts {
            store: store.clone(),
            scopes,
            watching: self.watching(self.metrics.mailbox("reflector", &label), alive),
        });
        (reflector.start_controlled(), gone)
    }

    /// Starts the actor of a related type that needs watches of its own.
    pub(super) fn start_related(&self, source: &Source) -> (RelatedHandle, Gone) {
        self.board.add_source(source.clone());
        let (alive, gone) = Alive::new();
        let label = self.metrics.type_label(&source.spec().ty);
        let reflector = RelatedReflector::new(RelatedParts {
            source: source.clone(),
            watching: self.watching(self.metrics.mailbox("related", &label), alive),
        });
        (reflector.start_poked(), gone)
    }

    fn watching(&self, mailbox: MailboxDepth, alive: Alive) -> WatchParts {
        let (cluster, runtime) = (self.cluster.clone(), self.runtime.clone());
        WatchParts { cluster, runtime, board: self.board.clone(), mailbox, alive }
    }

    /// The state of an operator, which is gone when its last part is.
    pub(super) fn context(
        &self,
        AnyOperator { config, handler }: AnyOperator,
        stores: &Stores,
        fences: &Fences,
    ) -> Result<(Arc<Context>, Gone), RunError> {
        let (board, name) = (self.board.clone(), config.operator_name()?);
        let show: Show =
            Arc::new(move |parent, failure| show_overdue(&board, &name, parent, failure));
        let (alive, gone) = Alive::new();
        let context = Context::new(ContextParts {
            shared_permits: self.shared_permits.clone(),
            requests: self.requests.clone(),
            buckets: fences.buckets().cloned(),
            parent_types: self.parent_types.clone(),
            cluster: fences.behind(self.cluster.in_the_name_of(&config.name), &config.name),
            parents: stores.parents.clone(),
            children: stores.children.clone(),
            reads: Arc::new(Reads::new(stores.sources.clone())),
            metrics: self.metrics.clone(),
            publish: self.published.publish(),
            show,
            config,
            handler,
            alive,
        })?;
        Ok((Arc::new(context), gone))
    }

    /// Starts an operator. It waits until it is notified of the conditions of its watches.
    pub(super) fn start_operator(&self, context: &Arc<Context>, stores: Stores) -> OperatorHandle {
        self.show_operator(context);
        OperatorHandle::start(OperatorParts {
            context: context.clone(),
            parents: stores.parents.reader(),
            children: stores.children.iter().map(Store::reader).collect(),
            relies_on: stores.relies_on,
            runtime: self.runtime.clone(),
            pool: self.pool.clone(),
            board: self.board.clone(),
            states: self.states.clone(),
            mailbox: self.metrics.mailbox("operator", context.name().as_str()),
        })
    }

    /// Shows another configuration of an operator.
    pub(super) fn show_configuration(&self, context: &Context) {
        self.board.reconfigure(info(context));
        self.metrics.operator_registered(context.name(), context.config());
    }

    fn show_operator(&self, context: &Context) {
        let (name, config) = (context.name(), context.config());
        self.board.register(info(context));
        let (gate, undeclared) = (context.gate().clone(), context.undeclared.clone());
        self.board.show_queue(name, Reader::new(move || gate.look()));
        self.board.show_related(name, context.parts.reads.clone());
        self.board.show_undeclared(name, Reader::new(move || undeclared.fields()));
        self.metrics.operator_registered(name, config);
    }

    /// Announces types that will be watched.
    pub(super) fn announce_types(&self, types: &[&K8sType]) {
        self.metrics.tell_apart(types);
        for ty in types {
            self.metrics.type_registered(ty);
        }
    }
}

fn info(context: &Context) -> OperatorInfo {
    let config = context.config().clone();
    let has_finalizer = config.needs_finalizer(context.parts.handler.has_finalizer());
    OperatorInfo { name: context.name().clone(), config, has_finalizer }
}

/// Shows that the handler of a parent is overdue, beside its last reconciles.
fn show_overdue(board: &Board, operator: &OperatorName, parent: &Object, failure: &Failure) {
    board.update_parent(operator, parent.key(), parent.uid(), |state| {
        state.message = Some(failure.to_string());
        state.set_stage(ReconcileStage::HandlerTimeout);
    });
}
