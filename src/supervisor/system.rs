//! The lifecycle of a supervisor: connect, start, wait, end.

use std::{
    collections::BTreeSet,
    net::{SocketAddr, TcpListener},
    pin::pin,
    thread,
    time::Duration,
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;
use tokio::{
    runtime::{Handle, Runtime},
    sync::mpsc,
};

#[cfg(feature = "testkit")]
use super::clock;
use super::{
    RunError,
    announcement::Announcement,
    before_start::{Connecting, before, certified, connected, installed},
    certificates::SharedCertificates,
    connection::PluginLife,
    elections::Elections,
    ending::{Servers, end, hand_over},
    external::{self, ExternalChanges},
    fences::Fences,
    migration::{Migrated, Migrations},
    readiness::{OnReady, Readiness},
    registry::{Inboxes, Members, Registrar, WantedBuckets, serve, watches_of_unlabelled},
    running::{Handles, Watches},
    sharing,
    thread::Lifeline,
    unserved::Answered,
    webhooks::{BoundWebhooks, Called},
    wiring::Wiring,
};
use crate::{
    actors::{ArbiterPool, Arbiters, Sharded},
    board::{Board, CredentialState},
    election::{LeaderElection, Sharding},
    metrics::{Metrics, TraceIds},
    object::K8sType,
    operator::AnyOperator,
    web::{
        self, Access, Auth, Certificates, Peers, Program, Protection, Records, Reviewing, TlsProxy,
        WebState,
    },
};

pub(super) struct Parts {
    pub(super) connect: Connecting,
    pub(super) operators: Vec<AnyOperator>,
    /// To be installed before they start.
    pub(super) crds: Vec<CustomResourceDefinition>,
    pub(super) announcement: Option<Announcement>,
    pub(super) external: Vec<ExternalChanges>,
    pub(super) listener: Option<TcpListener>,
    pub(super) auth: Auth,
    pub(super) certificates: Option<Certificates>,
    pub(super) proxy: Option<TlsProxy>,
    pub(super) on_ready: Option<OnReady>,
    pub(super) election: Option<LeaderElection>,
    pub(super) sharding: Option<Sharding>,
    /// Whether nothing is written at all.
    pub(super) is_plan_only: bool,
    /// Whether operators come later.
    pub(super) expects_registrations: bool,
    /// The number of threads for reconcilers.
    pub(super) arbiters: usize,
    pub(super) program: Program,
    /// How the trace of a span is found, for exemplars.
    pub(super) trace_ids: Option<TraceIds>,
    pub(super) webhooks: Option<BoundWebhooks>,
    /// The types of which webhooks read all objects.
    pub(super) reads: BTreeSet<K8sType>,
    /// The types whose objects are migrated from old versions.
    pub(super) migrated: Option<Migrated>,
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
        return clock::run(jumps, async || {
            Box::pin(live(parts, lifeline, &Handle::current())).await
        });
    }
    let runtime = runtime()?;
    let living = Box::pin(live(parts, lifeline, runtime.handle()));
    let result = actix::System::new().block_on(living);
    // A handler that never returns must not block the end of the process.
    runtime.shutdown_background();
    result
}

/// Threads for handlers are started on demand: operators may come later.
const MAX_HANDLERS: usize = 4096;

/// How long such a thread waits for another call. A start over many parents leaves dozens of them, each with 100 KiB and more.
const KEEPS_THREAD: Duration = Duration::from_secs(1);

fn runtime() -> Result<Runtime, RunError> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    if thread::available_parallelism().is_ok_and(|cores| cores.get() == 1) {
        // With one worker, an asynchronous handler that blocks it would stop all timers and watches.
        runtime.worker_threads(2);
    }
    Ok(runtime
        .thread_name("operetta-io")
        .max_blocking_threads(MAX_HANDLERS)
        .thread_keep_alive(KEEPS_THREAD)
        .enable_all()
        .build()?)
}

/// What is shown until there is a connection.
const CONNECTING: &str =
    "the process is connecting: its kubeconfig is read, or the credential plugin of that runs";

/// Serves the web endpoint from the beginning: a credential plugin may take its time.
async fn live(parts: Parts, lifeline: Lifeline<Handles>, runtime: &Handle) -> Result<(), RunError> {
    let Parts { connect, operators, listener, auth, certificates, proxy, on_ready, .. } = parts;
    let Parts { election, sharding, is_plan_only, expects_registrations, .. } = parts;
    let Parts { arbiters, program, .. } = parts;
    let Parts { external, crds, announcement, trace_ids, webhooks, reads, migrated, .. } = parts;
    let (board, metrics) = (Board::new(), Metrics::with_trace_ids(trace_ids));
    board.limit_activity(program.activity);
    if is_plan_only {
        board.begin_plan_only();
    }
    let connecting = CredentialState::default();
    connecting.set(Some(CONNECTING.to_owned()));
    board.show_credentials(connecting);
    let web = listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let reviewing = Reviewing::default();
    let access = Access::new(auth, reviewing.clone(), runtime.clone());
    let peers = Peers::new(reviewing.clone(), runtime.clone(), certificates.clone());
    let scheme = if certificates.is_some() { "https" } else { "http" };
    let sharding = sharding.map(|sharding| sharding.answering_at(scheme, web));
    let (protection, shown) = (Protection { access, certificates, proxy }, program.clone());
    let state = WebState::new(board.clone(), metrics.clone(), shown).beside(peers);
    let server = listener.map(|listener| start_web(listener, state, protection)).transpose()?;
    let hooks = webhooks.as_ref().and_then(|bound| bound.listener.local_addr().ok());
    let records = Records { board: board.clone(), metrics: metrics.clone() };
    let answering = webhooks.map(|bound| bound.start(records, runtime)).transpose()?;
    let (answering, called) = answering.unzip();
    let Called { objects, shared: shared_certificates, answered } = called.unwrap_or_default();
    board.show_webhook_reads(reads.clone());
    let arbiters = Arbiters::start(arbiters, &board);
    let pool = arbiters.pool();
    let shared = Shared { board: board.clone(), metrics, web, hooks, reviewing, pool, program };
    let on_ready = announced(announcement, on_ready);
    let wanted = Wanted {
        operators,
        crds,
        webhooks: objects,
        reads,
        shared_certificates,
        answered,
        migrated,
        external,
        election,
        sharding,
        is_plan_only,
        expects_registrations,
        on_ready,
    };
    let operated = operate(connect, wanted, shared, lifeline, runtime).await;
    board.begin_stopping();
    let members = operated.as_ref().ok().and_then(Option::as_ref).map(|(members, _)| members);
    let contexts = members.map(Members::contexts).unwrap_or_default();
    let elected = members.map(Members::elected).unwrap_or_default();
    let member = members.and_then(Members::sharded);
    if let Some(member) = member {
        hand_over(member).await;
    }
    end(&contexts, (&elected, member), Servers { web: server, webhooks: answering }).await;
    operated.map(drop)
}

/// What the web endpoint shows, and the parts that outlive the operators.
struct Shared {
    board: Board,
    metrics: Metrics,
    web: Option<SocketAddr>,
    hooks: Option<SocketAddr>,
    reviewing: Reviewing,
    pool: ArbiterPool,
    program: Program,
}

/// What is to run.
struct Wanted {
    operators: Vec<AnyOperator>,
    crds: Vec<CustomResourceDefinition>,
    /// Webhook configurations and conversions, to be applied when the CRDs are there.
    webhooks: Vec<Value>,
    /// The types of which webhooks read all objects.
    reads: BTreeSet<K8sType>,
    /// The certificates of webhooks, which are there before an operator starts.
    shared_certificates: Option<SharedCertificates>,
    /// The types of the webhooks.
    answered: Answered,
    migrated: Option<Migrated>,
    external: Vec<ExternalChanges>,
    election: Option<LeaderElection>,
    sharding: Option<Sharding>,
    is_plan_only: bool,
    expects_registrations: bool,
    on_ready: Option<OnReady>,
}

/// Runs the operators until they are to stop. Returns those whose reconciles are to end, if any has started.
async fn operate(
    connect: Connecting,
    wanted: Wanted,
    shared: Shared,
    lifeline: Lifeline<Handles>,
    runtime: &Handle,
) -> Result<Option<(Members, Option<PluginLife>)>, RunError> {
    let Wanted { operators, external, election, is_plan_only, expects_registrations, .. } = wanted;
    let sharding = wanted.sharding.filter(|_| !is_plan_only);
    let (crds, webhooks, on_ready) = (wanted.crds, wanted.webhooks, wanted.on_ready);
    let (shared_certificates, answered) = (wanted.shared_certificates, wanted.answered);
    let migrated = wanted.migrated;
    let Shared { board, metrics, web, hooks, reviewing, pool, program } = shared;
    let Lifeline { started, ready, stop } = lifeline;
    // Both a message and dropping the handle stop it.
    let mut stopped = pin!(async { drop(stop.await) });
    let Some(connection) = connected(connect, runtime, stopped.as_mut()).await? else {
        return Ok(None);
    };
    let (credentials, plugin) = (connection.credentials(), connection.plugin());
    let (states, changes) = mpsc::unbounded_channel();
    let entered = runtime.enter();
    let clients = connection.clients()?;
    let installing = installed(clients.client.clone(), crds, webhooks);
    let fences = match &sharding {
        _ if is_plan_only => Fences::closed(connection),
        Some(_) => Fences::shared(connection)?,
        None => Fences::of(election.as_ref(), connection)?,
    };
    drop(entered);
    if before(runtime, installing, stopped.as_mut()).await.map_err(RunError::Install)?.is_none() {
        return Ok(None);
    }
    let both = (board.clone(), metrics.clone());
    let wiring = Wiring::new((clients, &program), both, runtime.clone(), states, pool);
    let cluster = wiring.cluster.clone();
    // Empty until now.
    let _ = reviewing.set(cluster.clone());
    runtime.spawn(answered.warn_of_unserved(cluster.clone()));
    let keeping = certified(shared_certificates, cluster.clone());
    let kept = before(runtime, keeping, stopped.as_mut()).await;
    let Some(keeper) = kept.map_err(|error| RunError::WebhookCertificate(error.to_string()))?
    else {
        return Ok(None);
    };
    // Until this function returns.
    let _kept = keeper.map(|keeper| keeper.follow(runtime));
    let elections = match &sharding {
        Some(sharding) => Elections::share(sharding, &wiring, &fences),
        None => Elections::start(election, &wiring, &fences),
    };
    let buckets = elections.sharded().map(Sharded::watches);
    let mut members = Members::new(wiring, fences, elections, is_plan_only).reading(wanted.reads);
    if let Some(buckets) = buckets.clone() {
        let watches = watches_of_unlabelled(&operators);
        let beginning = sharing::begun(cluster.clone(), watches, buckets);
        let begun =
            before(runtime, beginning, stopped.as_mut()).await.map_err(RunError::Connect)?;
        let Some(unlabelled) = begun else { return Ok(None) };
        members.know_unlabelled(unlabelled);
    }
    members.admit(operators, expects_registrations)?;
    // Until this function returns.
    let _migrations = Migrations::start(migrated, |ty| members.connection_for(ty), &board, runtime);
    // With the operators it is ready.
    board.show_credentials(credentials);
    let (registrations, requests) = mpsc::unbounded_channel();
    let registrar = Registrar::new(registrations);
    let buckets = buckets.map(WantedBuckets::new);
    let mut inboxes = Inboxes { registrations: requests, web: board.take_commands(), buckets };
    // Until this function returns.
    let _followed = external::follow(external, &board, runtime);
    // `run` does not receive it.
    let watches = Watches { cluster, watched: members.watched() };
    let listed = board.clone();
    let _ = started.send(Handles { board, metrics, web, hooks, registrar, watches });
    let readiness = Readiness { expected: members.names(), web, ready, on_ready };
    tokio::select! {
        () = stopped => {}
        () = readiness.announce(changes, listed.webhook_reads_settled()) => {}
        () = serve(&mut members, &mut inboxes) => {}
    }
    Ok(Some((members, plugin)))
}

/// Prints the announcement, then calls the program back.
fn announced(announcement: Option<Announcement>, on_ready: Option<OnReady>) -> Option<OnReady> {
    let Some(announcement) = announcement else { return on_ready };
    Some(Box::new(move |ready| {
        announcement.print(ready);
        if let Some(call) = on_ready {
            call(ready);
        }
    }))
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
