//! The lifecycle of a supervisor: connect, start, wait, end.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{SocketAddr, TcpListener},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    thread,
};

use futures::future::BoxFuture;
use tokio::{
    runtime::{Handle, Runtime},
    sync::{
        mpsc::{self, UnboundedReceiver},
        watch,
    },
};

#[cfg(feature = "testkit")]
use super::clock;
use super::{
    Connection, Ready, RunError,
    elections::Elections,
    ending::end,
    fences::Fences,
    registry::{Inboxes, Members, Registrar, serve},
    running::{Handles, Watches},
    thread::Lifeline,
    wiring::Wiring,
};
use crate::{
    actors::{Arbiters, OperatorStateChanged},
    board::{Board, OperatorState},
    election::LeaderElection,
    object::OneLine,
    operator::{AnyHandler, OperatorConfig, OperatorName, panic_text},
    web::{self, Access, Auth, Certificates, Program, Protection, TlsProxy, WebState},
};

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
    /// Whether operators come later.
    pub(super) expects_registrations: bool,
    /// The number of threads for reconcilers.
    pub(super) arbiters: usize,
    pub(super) program: Program,
    /// The jumps of the clock, if the test moves it.
    #[cfg(feature = "testkit")]
    pub(super) jumps: Option<clock::Jumps>,
}

/// Runs on the calling thread until it is stopped.
pub(super) fn run(
    #[cfg_attr(not(feature = "testkit"), expect(unused_mut))] mut parts: Parts,
    lifeline: Lifeline<Handles>,
) -> Result<(), RunError> {
    #[cfg(feature = "testkit")]
    if let Some(jumps) = parts.jumps.take() {
        return clock::run(jumps, async || live(parts, lifeline, &Handle::current()).await);
    }
    let runtime = runtime()?;
    let living = live(parts, lifeline, runtime.handle());
    let result = actix::System::new().block_on(living);
    // A handler that never returns must not block the end of the process.
    runtime.shutdown_background();
    result
}

/// Threads for handlers are started on demand: operators may come later.
const MAX_HANDLERS: usize = 4096;

fn runtime() -> Result<Runtime, RunError> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    if thread::available_parallelism().is_ok_and(|cores| cores.get() == 1) {
        // With one worker, an asynchronous handler that blocks it would stop all timers and watches.
        runtime.worker_threads(2);
    }
    Ok(runtime
        .thread_name("operetta-io")
        .max_blocking_threads(MAX_HANDLERS)
        .enable_all()
        .build()?)
}

async fn live(parts: Parts, lifeline: Lifeline<Handles>, runtime: &Handle) -> Result<(), RunError> {
    let Parts { connect, operators, listener, auth, certificates, .. } = parts;
    let Parts { proxy, on_ready, election, is_plan_only, arbiters, program, .. } = parts;
    let expects_registrations = parts.expects_registrations;
    let Lifeline { started, ready, stop } = lifeline;
    // Both a message and dropping the handle stop it.
    let mut stopped = pin!(async { drop(stop.await) });
    let connection = tokio::select! {
        connected = runtime.spawn(connect()) => {
            connected.map_err(|error| RunError::Connect(error.into()))
        }
        () = &mut stopped => return Ok(()),
    };
    let connection = connection?.map_err(RunError::Connect)?;
    let credentials = connection.credentials();
    let (states, changes) = mpsc::unbounded_channel();
    let entered = runtime.enter();
    let clients = connection.clients()?;
    let fences = if is_plan_only {
        Fences::closed(connection)
    } else {
        Fences::of(election.as_ref(), connection)?
    };
    drop(entered);
    let board = Board::new();
    board.show_credentials(credentials);
    if is_plan_only {
        board.begin_plan_only();
    }
    let arbiters = Arbiters::start(arbiters, &board);
    let wiring =
        Wiring::new((clients, &program), runtime.clone(), board.clone(), states, arbiters.pool());
    let (cluster, metrics) = (wiring.cluster.clone(), wiring.metrics.clone());
    let elections = Elections::start(election, &wiring, &fences);
    let mut members = Members::new(wiring, fences, elections, is_plan_only);
    members.admit(operators, expects_registrations)?;
    let (registrations, requests) = mpsc::unbounded_channel();
    let registrar = Registrar::new(registrations);
    let mut inboxes = Inboxes { registrations: requests, web: board.take_commands() };
    let web = listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let state = WebState { board: board.clone(), metrics: metrics.clone(), program };
    let access = Access::new(auth, cluster.clone(), runtime.clone());
    let protection = Protection { access, certificates, proxy };
    let server = listener.map(|listener| start_web(listener, state, protection)).transpose()?;
    // `run` does not receive it.
    let watches = Watches { cluster, watched: members.watched() };
    let _ = started.send(Handles { board: board.clone(), metrics, web, registrar, watches });
    let readiness = Readiness { expected: members.names(), web, ready, on_ready };
    tokio::select! {
        () = &mut stopped => {}
        () = readiness.announce(changes) => {}
        () = serve(&mut members, &mut inboxes) => {}
    }
    drop(inboxes);
    board.begin_stopping();
    end(&members.contexts(), &members.elected(), server).await;
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
    /// The operators of the start.
    expected: BTreeSet<String>,
    web: Option<SocketAddr>,
    ready: watch::Sender<bool>,
    on_ready: Option<OnReady>,
}

impl Readiness {
    /// Calls back once every operator runs or is degraded; never returns.
    async fn announce(mut self, mut changes: UnboundedReceiver<OperatorStateChanged>) {
        let mut states = BTreeMap::new();
        self.notify_if_settled(&states);
        while let Some(OperatorStateChanged { operator, state }) = changes.recv().await {
            if let Some(state) = state {
                let before = states.insert(operator.clone(), state.clone());
                if before.as_ref() != Some(&state) {
                    log(&operator, &state);
                }
            } else {
                tracing::info!(%operator, "the operator is gone");
                states.remove(&operator);
                self.expected.remove(operator.as_str());
            }
            self.notify_if_settled(&states);
        }
        std::future::pending::<()>().await;
    }

    fn notify_if_settled(&mut self, states: &BTreeMap<OperatorName, OperatorState>) {
        let settled = states.iter().filter(|(_, state)| state.is_settled());
        let settled = settled.filter(|(operator, _)| self.expected.contains(operator.as_str()));
        if settled.count() == self.expected.len() {
            self.notify(states);
        }
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
            let reasons = OneLine(reasons.join("; "));
            tracing::warn!(%operator, "the operator is degraded: {reasons}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, PoisonError};

    use futures::FutureExt;

    use super::*;

    #[test]
    fn readiness_is_announced_although_the_callback_panics() {
        let (ready, is_ready) = watch::channel(false);
        let on_ready: OnReady = Box::new(|_: &Ready| panic!("no such file"));
        let expected = BTreeSet::new();
        let mut readiness = Readiness { expected, web: None, ready, on_ready: Some(on_ready) };
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
        let expected = BTreeSet::from(["a".to_owned(), "b".to_owned()]);
        let readiness = Readiness { expected, web: None, ready, on_ready: Some(on_ready) };
        let mut announcing = pin!(readiness.announce(changes));
        let mut after = |operator: &str, state: OperatorState| {
            let operator = OperatorName::new(operator).unwrap();
            states.send(OperatorStateChanged { operator, state: Some(state) }).unwrap();
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
