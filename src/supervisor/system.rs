//! The lifecycle of a supervisor: connect, start, wait, drain, end.

use std::{
    collections::BTreeMap,
    io,
    net::{SocketAddr, TcpListener},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    thread,
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::{
    runtime::{Handle, Runtime},
    signal::unix::{SignalKind, signal},
    sync::{
        mpsc::{self, UnboundedReceiver},
        oneshot, watch,
    },
};

#[cfg(feature = "testkit")]
use super::clock;
use super::{
    Connection, Ready, RunError,
    fences::Fences,
    running::Handles,
    thread::Lifeline,
    web_requests,
    wiring::{Started, Wiring},
};
use crate::{
    actors::{Arbiters, Elected, OperatorStateChanged},
    board::OperatorState,
    election::LeaderElection,
    execute::Context,
    operator::{AnyHandler, OperatorConfig, OperatorName, panic_text},
    web::{self, Access, Auth, Certificates, Program, Protection, TlsProxy, WebState},
};

/// How long reconciles in flight may take when the supervisor stops.
const DRAIN: Duration = Duration::from_secs(4);

/// How long the Leases may take to be given back then.
const RELEASE: Duration = Duration::from_millis(500);

/// Creates the client on the supervisor's runtime, which then drives its connections.
pub(super) type Connecting =
    Box<dyn FnOnce() -> BoxFuture<'static, anyhow::Result<Connection>> + Send>;

pub(super) type OnReady = Box<dyn FnOnce(&Ready) + Send>;

pub(super) struct Parts {
    pub(super) connect: Connecting,
    pub(super) operators: Vec<(OperatorConfig, AnyHandler)>,
    pub(super) listener: Option<TcpListener>,
    pub(super) auth: Auth,
    pub(super) certificates: Option<Certificates>,
    pub(super) proxy: Option<TlsProxy>,
    pub(super) on_ready: Option<OnReady>,
    pub(super) election: Option<LeaderElection>,
    /// Whether nothing is written at all.
    pub(super) is_plan_only: bool,
    /// The number of threads for reconcilers.
    pub(super) arbiters: usize,
    pub(super) program: Program,
    /// The jumps of the clock, if the test moves it.
    #[cfg(feature = "testkit")]
    pub(super) jumps: Option<clock::Jumps>,
}

/// Whether SIGINT and SIGTERM stop the supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signals {
    Stop,
    /// They are the program's.
    Ignored,
}

/// Runs on the calling thread until it is stopped.
pub(super) fn run(
    #[cfg_attr(not(feature = "testkit"), expect(unused_mut))] mut parts: Parts,
    signals: Signals,
    lifeline: Lifeline<Handles>,
) -> Result<(), RunError> {
    #[cfg(feature = "testkit")]
    if let Some(jumps) = parts.jumps.take() {
        return clock::run(jumps, async || {
            live(parts, signals, lifeline, &Handle::current()).await
        });
    }
    let runtime = runtime(&parts.operators)?;
    let living = live(parts, signals, lifeline, runtime.handle());
    let result = actix::System::new().block_on(living);
    // A handler that never returns must not block the end of the process.
    runtime.shutdown_background();
    result
}

fn runtime(operators: &[(OperatorConfig, AnyHandler)]) -> Result<Runtime, RunError> {
    let handlers: usize =
        operators.iter().map(|(config, _)| config.max_concurrent_reconciles).sum();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    if thread::available_parallelism().is_ok_and(|cores| cores.get() == 1) {
        // With one worker, an asynchronous handler that blocks it would stop all timers and watches.
        runtime.worker_threads(2);
    }
    Ok(runtime
        .thread_name("operetta-io")
        // One more for each operator, because previews run beside reconciles.
        .max_blocking_threads(handlers + operators.len() + 16)
        .enable_all()
        .build()?)
}

async fn live(
    parts: Parts,
    signals: Signals,
    lifeline: Lifeline<Handles>,
    runtime: &Handle,
) -> Result<(), RunError> {
    let Parts { connect, operators, listener, auth, certificates, .. } = parts;
    let Parts { proxy, on_ready, election, is_plan_only, arbiters, program, .. } = parts;
    let Lifeline { started, ready, stop } = lifeline;
    let mut stopped = pin!(stop_future(signals, stop)?);
    let connection = tokio::select! {
        connected = runtime.spawn(connect()) => {
            connected.map_err(|error| RunError::Connect(error.into()))
        }
        () = &mut stopped => return Ok(()),
    };
    let connection = connection?.map_err(RunError::Connect)?;
    let (states, changes) = mpsc::unbounded_channel();
    let entered = runtime.enter();
    let fences = if is_plan_only {
        Fences::closed(&operators)
    } else {
        Fences::of(election.as_ref(), &operators, &connection)?
    };
    let client = connection.client()?;
    drop(entered);
    let wiring = Wiring::new((client, &program), runtime.clone(), &operators, states, fences);
    let arbiters = Arbiters::start(arbiters, &wiring.board);
    let Started { contexts, operators } = wiring.start(operators, &arbiters.pool())?;
    let (board, metrics) = (wiring.board.clone(), wiring.metrics.clone());
    if is_plan_only {
        for context in &contexts {
            context.gate().hold();
        }
        board.begin_plan_only();
    }
    let elected = wiring.start_elections(election.as_ref(), &contexts);
    actix::spawn(web_requests::dispatch(board.take_commands(), operators));
    let web = listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let state = WebState { board: board.clone(), metrics: metrics.clone(), program };
    let access = Access::new(auth, wiring.cluster.clone(), runtime.clone());
    let protection = Protection { access, certificates, proxy };
    let server = listener.map(|listener| start_web(listener, state, protection)).transpose()?;
    // `run` does not receive it.
    let _ = started.send(Handles { board: board.clone(), metrics, web, watches: wiring.watched() });
    let readiness = Readiness { operators: contexts.len(), web, ready, on_ready };
    tokio::select! {
        () = &mut stopped => {}
        () = readiness.announce(changes) => {}
    }
    board.begin_stopping();
    drain(&contexts).await;
    release(&elected).await;
    if let Some(server) = server {
        server.stop(false).await;
    }
    Ok(())
}

fn start_web(
    listener: TcpListener,
    state: WebState,
    protection: Protection,
) -> Result<actix_web::dev::ServerHandle, RunError> {
    let server = web::server(listener, state, protection)?;
    let handle = server.handle();
    actix::spawn(server);
    Ok(handle)
}

/// Announces when the process is ready.
struct Readiness {
    operators: usize,
    web: Option<SocketAddr>,
    ready: watch::Sender<bool>,
    on_ready: Option<OnReady>,
}

impl Readiness {
    /// Calls back once every operator runs or is degraded; never returns.
    async fn announce(mut self, mut changes: UnboundedReceiver<OperatorStateChanged>) {
        let mut states = BTreeMap::new();
        while let Some(OperatorStateChanged { operator, state }) = changes.recv().await {
            let before = states.insert(operator.clone(), state.clone());
            if before.as_ref() != Some(&state) {
                log(&operator, &state);
            }
            if states.values().filter(|state| state.is_settled()).count() == self.operators {
                self.notify(&states);
            }
        }
        std::future::pending::<()>().await;
    }

    fn notify(&mut self, states: &BTreeMap<OperatorName, OperatorState>) {
        // Nobody may be waiting.
        let _ = self.ready.send(true);
        let Some(call) = self.on_ready.take() else { return };
        let degraded = states.iter().flat_map(|(operator, state)| {
            state.reasons().iter().map(move |reason| format!("{operator}: {reason}"))
        });
        let ready = Ready { web: self.web, degraded: degraded.collect() };
        // A panic would end the process without the drain.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| call(&ready))) {
            tracing::error!(
                panic = panic_text(panic),
                "`on_ready` panicked; the operators continue"
            );
        }
    }
}

/// Logs the state of an operator. The errors of single attempts are logged elsewhere.
fn log(operator: &OperatorName, state: &OperatorState) {
    match state {
        OperatorState::Starting { .. } => {}
        OperatorState::Running => tracing::info!(%operator, "the operator runs"),
        OperatorState::Degraded { reasons } => {
            tracing::warn!(%operator, "the operator is degraded: {}", reasons.join("; "));
        }
    }
}

async fn drain(contexts: &[Arc<Context>]) {
    tracing::info!("stopping: waiting for reconciles in flight");
    let draining = futures::future::join_all(contexts.iter().map(|context| context.drain()));
    if tokio::time::timeout(DRAIN, draining).await.is_err() {
        tracing::warn!("handlers or requests did not end in time: they are abandoned");
    }
}

/// Gives the Leases back after the last write, so that a standby continues at once.
async fn release(elected: &[Elected]) {
    let releasing = futures::future::join_all(elected.iter().map(Elected::release));
    if tokio::time::timeout(RELEASE, releasing).await.is_err() {
        tracing::warn!("a Lease was not given back in time: it expires");
    }
}

fn stop_future(
    signals: Signals,
    stop: oneshot::Receiver<()>,
) -> io::Result<impl Future<Output = ()>> {
    let signals = match signals {
        Signals::Stop => Some((signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)),
        Signals::Ignored => None,
    };
    let signalled = async {
        match signals {
            Some((mut interrupt, mut terminate)) => tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            },
            None => std::future::pending().await,
        }
    };
    Ok(async {
        tokio::select! {
            () = signalled => {}
            // Both `stop` and dropping the handle stop it.
            _ = stop => {}
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use futures::FutureExt;

    use super::*;

    #[test]
    fn readiness_is_announced_although_the_callback_panics() {
        let (ready, is_ready) = watch::channel(false);
        let on_ready: OnReady = Box::new(|_: &Ready| panic!("no such file"));
        let mut readiness = Readiness { operators: 0, web: None, ready, on_ready: Some(on_ready) };
        for _ in 0..2 {
            readiness.notify(&BTreeMap::new());
            assert!(*is_ready.borrow());
        }
    }

    #[test]
    fn a_process_is_ready_when_every_operator_runs_or_is_degraded() {
        let announced = Arc::new(Mutex::new(Vec::new()));
        let record = announced.clone();
        let on_ready: OnReady = Box::new(move |ready: &Ready| {
            record.lock().unwrap_or_else(PoisonError::into_inner).push(ready.degraded.clone());
        });
        let (ready, is_ready) = watch::channel(false);
        let (states, changes) = mpsc::unbounded_channel();
        let readiness = Readiness { operators: 2, web: None, ready, on_ready: Some(on_ready) };
        let mut announcing = pin!(readiness.announce(changes));
        let mut after = |operator: &str, state: OperatorState| {
            let operator = OperatorName::new(operator).unwrap();
            states.send(OperatorStateChanged { operator, state }).unwrap();
            assert!(announcing.as_mut().now_or_never().is_none(), "it never ends");
            *is_ready.borrow()
        };
        let starting = || OperatorState::Starting { waiting_for: vec!["pods".to_owned()] };
        let degraded = OperatorState::Degraded { reasons: vec!["no pods".to_owned()] };
        assert!(!after("a", OperatorState::Running) && !after("b", starting()));
        assert!(after("b", degraded));
        assert_eq!(*announced.lock().unwrap(), [["b: no pods"]]);
    }
}
