//! Builds a supervisor: operators, connection, web endpoint and settings.

use std::{fmt, io, thread, time::Duration};

use futures::FutureExt;
use tokio::{runtime::Handle, sync::oneshot};

use super::{
    Connect, Connection, Ready, RunError, Running,
    announcement::{Announcement, Development},
    checks::{check, check_external, refuse_exposure},
    external::ExternalChanges,
    migration::{Migrated, Migration},
    readiness::OnReady,
    running::Handles,
    signals,
    system::{self, Connecting, Parts},
    thread::Thread,
    webhooks::WebhookOptions,
};
use crate::{
    cluster::Timeouts,
    election::{LeaderElection, Sharding, ShardingError},
    manifests,
    metrics::TraceIds,
    operator::{AnyOperator, Fits, HasForm, IntoHandler, OperatorConfig, Role},
    web::{self, Auth, Program, Tls, TlsProxy},
};

mod endpoint;
mod program;
mod webhooks;

/// Runs operators. Created by [`Supervisor::builder`].
#[derive(Debug)]
pub struct Supervisor;

/// Collects operators and settings, for [`run`](Self::run) or [`start`](Self::start).
#[must_use]
#[expect(clippy::struct_excessive_bools, reason = "options, each on its own")]
pub struct SupervisorBuilder {
    connect: Option<Connecting>,
    operators: Vec<AnyOperator>,
    pub(super) external: Vec<ExternalChanges>,
    web: Option<String>,
    auth: Auth,
    tls: Option<Tls>,
    proxy: Option<TlsProxy>,
    is_open_allowed: bool,
    on_ready: Option<OnReady>,
    is_announced: bool,
    development: Option<Development>,
    are_crds_installed: bool,
    election: Option<LeaderElection>,
    sharding: Option<Sharding>,
    is_plan_only: bool,
    expects_registrations: bool,
    arbiters: usize,
    program: Program,
    trace_ids: Option<TraceIds>,
    webhooks: WebhookOptions,
    migration: Migration,
    #[cfg(feature = "testkit")]
    jumps: Option<super::clock::Jumps>,
}

/// Decisions take little time: on a small machine more threads cost more than they save.
fn arbiters() -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (cores / 4).min(4)
}

impl Supervisor {
    /// A builder without operators, for [the cluster of the environment](Connect::infer).
    pub fn builder() -> SupervisorBuilder {
        let operators = Vec::new();
        SupervisorBuilder {
            connect: None,
            operators,
            external: Vec::new(),
            web: None,
            auth: Auth::None,
            tls: None,
            proxy: None,
            is_open_allowed: false,
            on_ready: None,
            is_announced: false,
            development: None,
            are_crds_installed: false,
            election: None,
            sharding: None,
            is_plan_only: false,
            expects_registrations: false,
            arbiters: arbiters(),
            program: Program::default(),
            trace_ids: None,
            webhooks: WebhookOptions::default(),
            migration: Migration::default(),
            #[cfg(feature = "testkit")]
            jumps: None,
        }
    }
}

impl SupervisorBuilder {
    /// Sets the cluster. Default is [the one of the environment](Connect::infer). On an embedded API server CRDs are
    /// [installed](Self::install_crds), and its kubeconfig is [announced](Self::announce).
    pub fn connect_to(mut self, cluster: impl Into<Connect>) -> Self {
        let cluster = cluster.into();
        self.development = cluster.development();
        self.connect(move || cluster.connection())
    }

    /// Installs the CRDs that the operators bring along before they start, and waits until the API server serves them: see
    /// [`OperatorConfig::custom`]. Never removes one. On an embedded API server this is always done. Elsewhere the process
    /// needs the permission to patch and watch CRDs, so that whoever deploys it often installs them instead.
    pub fn install_crds(mut self) -> Self {
        self.are_crds_installed = true;
        self
    }

    /// Sets how to create the client or its configuration, where [`connect_to`](Self::connect_to) is not enough.
    ///
    /// `connect` runs on the supervisor's own runtime. The client should not retry
    /// (`kube::Config::default_retry = false`), because the schedule of a parent does. Prefer to return the configuration:
    /// then the supervisor runs its credential plugin, with a deadline, and with a
    /// [leader election](Self::leader_election) also connections are fenced.
    pub fn connect<F, Fut, C>(mut self, connect: F) -> Self
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = anyhow::Result<C>> + Send + 'static,
        C: Into<Connection>,
    {
        let connecting = move || async move { Ok(connect().await?.into()) };
        self.connect = Some(Box::new(move || connecting().boxed()));
        self
    }

    /// Adds an operator: its configuration, and a handler in one of the forms of [`IntoHandler`]. `run` and
    /// `start` return the error of an invalid configuration.
    pub fn register<R: Role, Form, H>(self, config: OperatorConfig<R>, handler: H) -> Self
    where
        H: HasForm<Form> + IntoHandler<Form>,
        H::Role: Fits<R>,
    {
        self.register_any(AnyOperator::new(config, handler))
    }

    /// Adds an operator whose role and types are forgotten, for example one of a list.
    pub fn register_any(mut self, operator: AnyOperator) -> Self {
        self.operators.push(operator);
        self
    }

    /// Declares that operators are registered later, by a [`Registrar`](super::Registrar): the supervisor also starts
    /// without any. Child types are watched by the presence of the label of the parent's uid instead of the names of
    /// the operators, so that no later registration replaces a watch. Their caches then also hold the children of
    /// operators of other processes.
    pub fn expect_registrations(mut self) -> Self {
        self.expects_registrations = true;
        self
    }

    /// Runs the operators only while this process leads. Without it, every process that runs them writes.
    ///
    /// A standby watches, serves the web endpoint and is ready, so that it continues at once.
    pub fn leader_election(mut self, election: LeaderElection) -> Self {
        self.election = Some(election);
        self
    }

    /// Shares the parents of all operators out over the processes of a group, as many as there are: each watches, reconciles
    /// and writes only for its parents.
    ///
    /// Children get the label [`operetta.dev/bucket`](crate::operator::BUCKET_LABEL). Children that exist already are watched
    /// by their owner reference until they have it.
    pub fn sharded(mut self, sharding: Sharding) -> Self {
        self.sharding = Some(sharding);
        self
    }

    /// Writes nothing: the operators watch, and [`Running::plans`] says what they would do.
    ///
    /// Handlers are called for plans only, also those that [`OperatorConfig::with_preview`] excludes from previews;
    /// [`SyncRequest::is_preview`](crate::operator::SyncRequest::is_preview) is true.
    pub fn plan_only(mut self) -> Self {
        self.is_plan_only = true;
        self
    }

    /// Sets the timeouts of requests and watches.
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.program.settings.timeouts = timeouts;
        self
    }

    /// Sets how long no object of a type is deleted after its versions regressed, as after the API server
    /// was restored from a backup. Default is one minute.
    pub fn with_deletions_held_for(mut self, time: Duration) -> Self {
        self.program.settings.deletions_held = time;
        self
    }

    /// Lets the API server stream lists as the first events of their watches (`sendInitialEvents`,
    /// KEP-3157) if it supports that. By default lists are read in pages, and each watch continues from
    /// its list.
    ///
    /// A stream costs kube-apiserver no read of its storage but about twice the CPU of pages, so that a
    /// start with many objects takes longer. It is meant for servers that read pages from etcd, which are
    /// those before Kubernetes 1.34 (KEP-4988).
    pub fn streaming_lists(mut self) -> Self {
        self.program.settings.streaming_lists = true;
        self
    }

    /// Sets the number of arbiters, which are threads, over which the reconcilers of all parents are
    /// spread by uid; zero keeps them on the thread of the other actors. Default is one for each four
    /// cores, at most four. They only decide: requests, plans and handlers run on other threads.
    pub fn with_arbiters(mut self, count: usize) -> Self {
        self.arbiters = count;
        self
    }

    /// Runs everything on one thread, whose clock makes these jumps.
    #[cfg(feature = "testkit")]
    pub(crate) fn with_jumps(mut self, jumps: super::clock::Jumps) -> Self {
        (self.jumps, self.arbiters) = (Some(jumps), 0);
        self
    }

    /// Sets a callback that is called once, when every operator runs or is degraded with a reason. It is
    /// called on the thread of the actors and must not block. A panic is logged, and the operators continue.
    pub fn on_ready(mut self, call: impl FnOnce(&Ready) + Send + 'static) -> Self {
        self.on_ready = Some(Box::new(call));
        self
    }

    /// Runs until SIGINT or SIGTERM, then finishes reconciles in flight (at most 4 seconds) and returns.
    /// A program that then exits does so within 5 seconds, whatever its handlers do. Another signal makes it return at
    /// once, with [`RunError::Abandoned`].
    ///
    /// The supervisor has threads of its own: the runtime of the caller is not blocked, and may be of any
    /// kind. Dropping the future stops the supervisor without waiting.
    ///
    /// ```no_run
    /// # use operetta::prelude::*;
    /// # fn config() -> OperatorConfig { unimplemented!() }
    /// # fn sync(_: &SyncRequest) -> Result<SyncResponse> { Ok(SyncResponse::new()) }
    /// #[tokio::main]
    /// async fn main() -> Result<()> {
    ///     Supervisor::builder().register(config(), sync).run().await?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// When it cannot start, or has ended by an error. See [`RunError`].
    pub async fn run(self) -> Result<(), RunError> {
        let signals = signals::listen()?;
        let (thread, _) = self.spawn()?;
        thread.until_signalled(signals).await
    }

    /// The same as [`run`](Self::run), for a plain `fn main`. Blocks the calling thread.
    ///
    /// # Errors
    /// Those of [`run`](Self::run), and [`RunError::WithinRuntime`] within a tokio runtime.
    pub fn run_blocking(self) -> Result<(), RunError> {
        match Handle::try_current() {
            Ok(_) => Err(RunError::WithinRuntime),
            Err(_) => futures::executor::block_on(self.run()),
        }
    }

    /// Runs until the returned handle is stopped or dropped. Signals to the process are left to the program.
    ///
    /// Returns when the operators have been started, and the web endpoint listens;
    /// [`Running::ready`] waits until they run. Dropping the future stops the supervisor.
    ///
    /// # Errors
    /// When it cannot start. See [`RunError`].
    pub async fn start(self) -> Result<Running, RunError> {
        let (thread, started) = self.spawn()?;
        match started.await {
            Ok(handles) => Ok(Running::new(handles, thread)),
            Err(_) => Err(thread.outcome().await.err().unwrap_or(RunError::Died)),
        }
    }

    /// On its thread also the port is bound and files are read, which may block.
    fn spawn(self) -> io::Result<(Thread, oneshot::Receiver<Handles>)> {
        Thread::spawn(move |lifeline| system::run(self.prepare()?, lifeline))
    }

    /// Checks everything that can be checked without a cluster, and binds the port.
    fn prepare(self) -> Result<Parts, RunError> {
        if cfg!(panic = "abort") {
            return Err(RunError::PanicAborts);
        }
        let expects_registrations = self.expects_registrations || !self.webhooks.is_empty();
        if self.operators.is_empty() && !expects_registrations {
            return Err(RunError::NoOperators);
        }
        check(&self.operators)?;
        if !self.expects_registrations {
            check_external(&self.external, &self.operators)?;
        }
        let Self { connect, operators, web, auth, tls, proxy, is_open_allowed, .. } = self;
        let Self { on_ready, is_announced, development, are_crds_installed, is_plan_only, .. } =
            self;
        let Self { mut election, arbiters, program, external, trace_ids, webhooks, .. } = self;
        let name = program.name.as_ref().map_or("operetta", |(name, _)| name);
        let (versions, reach) = (webhooks.versions.clone(), webhooks.conversion(name));
        let is_acting = !is_plan_only && webhooks.elsewhere.is_none();
        let migrated = Migrated::of(self.migration, &versions).filter(|_| is_acting);
        // Nobody is answered in plan mode.
        let webhooks = Some(webhooks).filter(|_| !is_plan_only).unwrap_or_default();
        let reads = webhooks.reads();
        let webhooks = webhooks.prepare(name, development.is_some())?;
        if is_plan_only {
            // A standby for ever needs no Lease.
            election = None;
        }
        election.as_ref().map(LeaderElection::validate).transpose()?;
        let sharding = self.sharding;
        sharding.as_ref().map(Sharding::validate).transpose()?;
        if election.is_some() && sharding.is_some() {
            return Err(ShardingError::AndElection.into());
        }
        // It plans for all parents, and takes none from the processes that work.
        let sharding = sharding.filter(|_| !is_plan_only);
        let is_protected = auth != Auth::None && tls.is_some();
        if let (Some(address), false) = (&web, is_protected || is_open_allowed) {
            refuse_exposure(address)?;
        }
        let certificates = tls.map(Tls::load).transpose()?;
        let listener = web.as_deref().map(web::listen).transpose()?;
        let connect = connect.unwrap_or_else(|| Box::new(|| Connect::infer().connection().boxed()));
        let is_installing = (are_crds_installed || development.is_some()) && !is_plan_only;
        let configs = operators.iter().map(AnyOperator::config).filter(|_| is_installing);
        let announcement = (is_announced || development.is_some()).then(|| Announcement {
            operators: operators.iter().map(|it| it.config.name.clone()).collect(),
            development,
            is_tls: certificates.is_some(),
        });
        Ok(Parts {
            crds: manifests::definitions(
                configs,
                versions.iter().filter(|_| is_installing),
                reach.as_ref(),
            )?,
            announcement,
            connect,
            operators,
            external,
            listener,
            auth,
            certificates,
            proxy,
            on_ready,
            election,
            sharding,
            is_plan_only,
            expects_registrations,
            arbiters,
            program,
            trace_ids,
            webhooks,
            reads,
            migrated,
            #[cfg(feature = "testkit")]
            jumps: self.jumps,
        })
    }
}

impl fmt::Debug for SupervisorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.operators.iter().map(|it| it.config.name.as_str()).collect();
        f.debug_struct("SupervisorBuilder").field("operators", &names).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
