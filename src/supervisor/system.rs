//! The life of a supervisor: connect, start the actors, wait, drain, end.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    net::TcpListener,
    pin::pin,
    sync::Arc,
    time::Duration,
};

use actix::{Actor, Addr};
use tokio::{
    runtime::{Handle, Runtime},
    signal::unix::{SignalKind, signal},
    sync::{
        mpsc::{self, UnboundedReceiver, UnboundedSender},
        oneshot, watch,
    },
};

use super::{
    Ready, RunError,
    builder::{Connect, OnReady},
    demand,
    running::{Handles, StopSignal},
};
use crate::{
    actors::{
        OperatorActor, OperatorParts, OperatorStateChanged, Published, Reflector, ReflectorParts,
    },
    board::{Board, OperatorInfo, ParentPhase, ParentState},
    cluster::Cluster,
    metrics::Metrics,
    object::{K8sType, KeptManagers, Object},
    operator::{Handler, OperatorConfig, OperatorName},
    reconcile::{Context, ContextParts, Failure, Publish, Show},
    store::Store,
    web::{self, WebState},
};

/// How long runs in flight may take to finish when the process is to end.
const DRAIN: Duration = Duration::from_secs(4);

/// What a system is made of.
pub(super) struct Parts {
    pub(super) connect: Connect,
    pub(super) operators: Vec<(OperatorConfig, Arc<dyn Handler>)>,
    pub(super) listener: Option<TcpListener>,
    pub(super) on_ready: Option<OnReady>,
}

/// What every part of the process needs.
#[derive(Clone)]
struct Shared {
    cluster: Cluster,
    runtime: Handle,
    board: Board,
    metrics: Metrics,
    stores: BTreeMap<K8sType, Store>,
    states: UnboundedSender<OperatorStateChanged>,
}

/// Runs a system on this thread until it is told to stop.
pub(super) fn run(
    parts: Parts,
    started: oneshot::Sender<Handles>,
    stop: StopSignal,
) -> Result<(), RunError> {
    let runtime = runtime(&parts.operators)?;
    let result = actix::System::new().block_on(live(parts, started, stop, &runtime));
    // A handler that never returns must not keep the process.
    runtime.shutdown_background();
    result
}

fn runtime(operators: &[(OperatorConfig, Arc<dyn Handler>)]) -> Result<Runtime, RunError> {
    let handlers: usize = operators.iter().map(|(config, _)| config.max_concurrent_runs).sum();
    Ok(tokio::runtime::Builder::new_multi_thread()
        .thread_name("operetta-io")
        .max_blocking_threads(handlers + 16)
        .enable_all()
        .build()?)
}

async fn live(
    parts: Parts,
    started: oneshot::Sender<Handles>,
    stop: StopSignal,
    runtime: &Runtime,
) -> Result<(), RunError> {
    let Parts { connect, operators, listener, on_ready } = parts;
    let mut stopped = pin!(stop_future(stop)?);
    let client = tokio::select! {
        client = runtime.spawn(connect()) => client,
        () = &mut stopped => return Ok(()),
    };
    let client = client.map_err(|error| RunError::Connect(error.into()))?;
    let metrics = Metrics::new();
    let configs: Vec<&OperatorConfig> = operators.iter().map(|(config, _)| config).collect();
    let names = configs.iter().map(|config| config.name.clone()).collect();
    let client = client.map_err(RunError::Connect)?;
    let (states, state_changes) = mpsc::unbounded_channel();
    let watches = demand::watches(&configs);
    let labels: BTreeSet<String> =
        configs.iter().map(|config| config.labels.parent_uid.clone()).collect();
    let stores = watches.keys().map(|ty| (ty.clone(), Store::new(ty.clone(), labels.clone())));
    let shared = Shared {
        cluster: Cluster::new(client, metrics.clone(), KeptManagers(names)),
        runtime: runtime.handle().clone(),
        board: Board::new(),
        metrics,
        stores: stores.collect(),
        states,
    };
    let contexts = start_actors(&shared, watches, operators)?;
    let web_address = listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let server = listener.map(|listener| start_web(listener, &shared)).transpose()?;
    let (ready, is_ready) = watch::channel(false);
    let handles =
        Handles { board: shared.board.clone(), metrics: shared.metrics.clone(), ready: is_ready };
    // Nobody waits for it when the supervisor runs on the caller's thread.
    let _ = started.send(handles);
    let announce = announce_ready(state_changes, contexts.len(), ready, on_ready, web_address);
    tokio::select! {
        () = &mut stopped => {}
        () = announce => {}
    }
    shared.board.begin_stopping();
    drain(&contexts).await;
    if let Some(server) = server {
        server.stop(false).await;
    }
    Ok(())
}

/// Starts every actor; nothing is watched before all of them listen.
fn start_actors(
    shared: &Shared,
    watches: BTreeMap<K8sType, Vec<crate::cluster::WatchSpec>>,
    operators: Vec<(OperatorConfig, Arc<dyn Handler>)>,
) -> Result<Vec<Arc<Context>>, RunError> {
    let mut reflectors: BTreeMap<K8sType, Reflector> = BTreeMap::new();
    for (ty, scopes) in watches {
        let store = shared.stores[&ty].clone();
        shared.board.add_store(store.reader());
        let (cluster, runtime) = (shared.cluster.clone(), shared.runtime.clone());
        let board = shared.board.clone();
        let parts = ReflectorParts { store, scopes, cluster, runtime, board };
        reflectors.insert(ty, Reflector::new(parts));
    }
    let published = PublishedTo::default();
    let mut contexts = Vec::new();
    for (config, handler) in operators {
        let context = Arc::new(context(shared, config, handler, &published)?);
        start_operator(shared, &context, &mut reflectors);
        contexts.push(context);
    }
    let addresses = reflectors.into_iter().map(|(ty, reflector)| (ty, reflector.start()));
    published.open(addresses.collect());
    Ok(contexts)
}

fn start_operator(
    shared: &Shared,
    context: &Arc<Context>,
    reflectors: &mut BTreeMap<K8sType, Reflector>,
) {
    let config = context.config();
    shared.board.register(OperatorInfo {
        name: context.name().clone(),
        config: config.clone(),
        has_finalizer: context.handler().has_finalizer(),
    });
    shared.metrics.operator_registered(context.name());
    let reader = |ty: &K8sType| shared.stores[ty].reader();
    let operator = OperatorActor::new(OperatorParts {
        context: context.clone(),
        parents: reader(&config.parent),
        children: config.children.iter().map(|child| reader(&child.ty)).collect(),
        runtime: shared.runtime.clone(),
        board: shared.board.clone(),
        states: shared.states.clone(),
    })
    .start();
    let types: BTreeSet<&K8sType> =
        config.children.iter().map(|child| &child.ty).chain([&config.parent]).collect();
    for ty in types {
        if let Some(reflector) = reflectors.get_mut(ty) {
            reflector.add_observer(operator.clone().recipient(), operator.clone().recipient());
        }
    }
}

fn context(
    shared: &Shared,
    config: OperatorConfig,
    handler: Arc<dyn Handler>,
    published: &PublishedTo,
) -> Result<Context, RunError> {
    let (board, name) = (shared.board.clone(), config.operator_name()?);
    let show: Show = Arc::new(move |parent, failure| show_overdue(&board, &name, parent, failure));
    Ok(Context::new(ContextParts {
        cluster: shared.cluster.in_the_name_of(&config.name),
        parents: shared.stores[&config.parent].clone(),
        children: config.children.iter().map(|child| shared.stores[&child.ty].clone()).collect(),
        metrics: shared.metrics.clone(),
        publish: published.publish(),
        show,
        config,
        handler,
    })?)
}

/// The parent keeps its last runs on the board, and is seen to be stuck.
fn show_overdue(board: &Board, operator: &OperatorName, parent: &Object, failure: &Failure) {
    let known = board.parent(operator.as_str(), parent.key());
    let unknown = || ParentState::pending(parent.uid().clone(), parent.generation());
    let state = known.unwrap_or_else(unknown);
    let (phase, message) = (ParentPhase::Running, Some(failure.to_string()));
    board.record(operator, parent.key(), ParentState { phase, message, ..state });
}

/// Where the changes by our own replies go: the reflectors, once they are started.
#[derive(Clone, Default)]
struct PublishedTo(Arc<std::sync::OnceLock<BTreeMap<K8sType, Addr<Reflector>>>>);

impl PublishedTo {
    fn open(&self, reflectors: BTreeMap<K8sType, Addr<Reflector>>) {
        // Set once: there is one start.
        let _ = self.0.set(reflectors);
    }

    fn publish(&self) -> Publish {
        let reflectors = self.0.clone();
        Arc::new(move |ty, change, origin| {
            if let Some(reflector) = reflectors.get().and_then(|reflectors| reflectors.get(ty)) {
                reflector.do_send(Published { change, origin });
            }
        })
    }
}

fn start_web(
    listener: TcpListener,
    shared: &Shared,
) -> Result<actix_web::dev::ServerHandle, RunError> {
    let state = WebState { board: shared.board.clone(), metrics: shared.metrics.clone() };
    let server = web::server(listener, state)?;
    let handle = server.handle();
    actix::spawn(server);
    Ok(handle)
}

/// Calls back once every operator runs or says why it does not; never returns.
async fn announce_ready(
    mut changes: UnboundedReceiver<OperatorStateChanged>,
    operators: usize,
    ready: watch::Sender<bool>,
    mut on_ready: Option<OnReady>,
    web: Option<std::net::SocketAddr>,
) {
    let mut settled = BTreeSet::new();
    while let Some(OperatorStateChanged { operator, state }) = changes.recv().await {
        if state.is_settled() {
            settled.insert(operator);
        } else {
            settled.remove(&operator);
        }
        if settled.len() == operators {
            // Nobody may be waiting.
            let _ = ready.send(true);
            if let Some(call) = on_ready.take() {
                call(&Ready { web });
            }
        }
    }
    std::future::pending::<()>().await;
}

async fn drain(contexts: &[Arc<Context>]) {
    tracing::info!("stopping: finishing what is in flight");
    let draining = futures::future::join_all(contexts.iter().map(|context| context.drain()));
    if tokio::time::timeout(DRAIN, draining).await.is_err() {
        tracing::warn!("some handlers have not returned; leaving them behind");
    }
}

fn stop_future(stop: StopSignal) -> Result<impl Future<Output = ()>, RunError> {
    let mut signals = match &stop {
        StopSignal::Process => {
            Some((signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?))
        }
        StopSignal::Handle(_) => None,
    };
    Ok(async move {
        match (stop, signals.as_mut()) {
            (StopSignal::Process, Some((interrupt, terminate))) => {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
            }
            // Both an order and the end of the handle stop it.
            (StopSignal::Handle(handle), _) => drop(handle.await),
            (StopSignal::Process, None) => {}
        }
    })
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts").finish_non_exhaustive()
    }
}
