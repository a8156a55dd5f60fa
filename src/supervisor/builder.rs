//! Builds a supervisor: operators, connection, web endpoint and settings.

use std::{fmt, io, sync::Arc, thread, time::Duration};

use futures::FutureExt;
use tokio::{runtime::Handle, sync::oneshot};

use super::{
    Connect, Connection, Ready, RunError, Running,
    checks::{check, check_external, refuse_exposure},
    external::ExternalChanges,
    readiness::OnReady,
    running::Handles,
    signals,
    system::{self, Connecting, Parts},
    thread::Thread,
};
use crate::{
    cluster::Timeouts,
    election::LeaderElection,
    operator::{AnyOperator, Fits, IntoHandler, OperatorConfig, Role},
    web::{self, Auth, LogLevel, Program, Tls, TlsProxy},
};

/// Runs operators. Created by [`Supervisor::builder`].
#[derive(Debug)]
pub struct Supervisor;

/// Collects operators and settings, for [`run`](Self::run) or [`start`](Self::start).
#[must_use]
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
    election: Option<LeaderElection>,
    is_plan_only: bool,
    expects_registrations: bool,
    arbiters: usize,
    program: Program,
    #[cfg(feature = "testkit")]
    jumps: Option<super::clock::Jumps>,
}

/// Decisions take little time: on a small machine more threads cost more than they save.
fn arbiters() -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (cores / 4).min(4)
}

impl Supervisor {
    /// A builder without operators, for the cluster that the process runs in.
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
            election: None,
            is_plan_only: false,
            expects_registrations: false,
            arbiters: arbiters(),
            program: Program::default(),
            #[cfg(feature = "testkit")]
            jumps: None,
        }
    }
}

impl SupervisorBuilder {
    /// Sets the cluster. Default is the one that the process runs in.
    pub fn connect_to(self, cluster: Connect) -> Self {
        self.connect(move || cluster.connection_of_supervisor())
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
        H: IntoHandler<Form>,
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

    /// Writes nothing: the operators watch, and [`Running::plans`] says what they would do.
    ///
    /// Handlers are called for plans only, also those that [`OperatorConfig::with_preview`] excludes from previews;
    /// [`SyncRequest::is_preview`](crate::operator::SyncRequest::is_preview) is true.
    pub fn plan_only(mut self) -> Self {
        self.is_plan_only = true;
        self
    }

    /// Serves health, metrics and state over HTTP on this address, for example `127.0.0.1:8080`.
    ///
    /// An address beyond loopback needs [`auth`](Self::auth) and [`tls`](Self::tls), or
    /// [`allow_insecure_listen`](Self::allow_insecure_listen).
    pub fn serve(mut self, address: &str) -> Self {
        self.web = Some(address.to_owned());
        self
    }

    /// Sets who may use the web endpoint. Default is everyone who reaches it.
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = auth;
        self
    }

    /// Serves the web endpoint over TLS.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Declares that users reach the web endpoint through a proxy that terminates TLS: the cookie is
    /// `Secure`, the `Origin` of browsers begins with `https`, and on loopback the host of the proxy is
    /// accepted too. The proxy must pass on the `Host` of the request; `X-Forwarded-*` is not read. It
    /// does not replace [`tls`](Self::tls) between the proxy and this process.
    pub fn behind_tls_proxy(mut self, proxy: TlsProxy) -> Self {
        self.proxy = Some(proxy);
        self
    }

    /// Allows an address beyond loopback without [`auth`](Self::auth), for everyone who reaches the port,
    /// or without [`tls`](Self::tls), where others can read tokens on the network.
    pub fn allow_insecure_listen(mut self) -> Self {
        self.is_open_allowed = true;
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

    /// Lets the web endpoint show and change the log level at `/log-level`. Without it that path answers
    /// 404, because the program sets up its logs.
    pub fn log_level(mut self, logs: impl LogLevel) -> Self {
        self.program.log_level = Some(Arc::new(logs));
        self
    }

    /// Sets the name and version of the program for `/version` and for the `User-Agent` of requests to
    /// the API server, where it precedes the framework and the operator.
    pub fn program(mut self, name: &str, version: &str) -> Self {
        self.program.name = Some((name.to_owned(), version.to_owned()));
        self
    }

    /// Adds the program's own routes to the web endpoint. It can be called several times. Handlers read the
    /// stores through [`Stores`](web::Stores).
    ///
    /// Their requests pass the same checks as all others, and their answers have the same headers. The
    /// paths of the framework cannot be replaced, with any method, nor can paths below `/api/v1`; a default
    /// service answers all other paths. A handler runs on the thread of the endpoint: blocking code belongs
    /// in `actix_web::web::block`. Their answers are not redacted, so they must protect Secrets themselves.
    ///
    /// ```
    /// use actix_web::web;
    /// use operetta::{prelude::*, web::Stores};
    ///
    /// async fn count(stores: Stores) -> String {
    ///     stores.list_objects(("v1", "ConfigMap")).map_or(0, |maps| maps.len()).to_string()
    /// }
    ///
    /// let supervisor = Supervisor::builder()
    ///     .serve("127.0.0.1:8080")
    ///     .routes(|config| {
    ///         config.route("/count", web::get().to(count));
    ///     });
    /// ```
    pub fn routes(
        mut self,
        add: impl Fn(&mut actix_web::web::ServiceConfig) + Send + Sync + 'static,
    ) -> Self {
        self.program.routes.push(Arc::new(add));
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
        if self.operators.is_empty() && !self.expects_registrations {
            return Err(RunError::NoOperators);
        }
        check(&self.operators)?;
        if !self.expects_registrations {
            check_external(&self.external, &self.operators)?;
        }
        let Self { connect, operators, web, auth, tls, proxy, is_open_allowed, .. } = self;
        let Self { on_ready, mut election, is_plan_only, expects_registrations, .. } = self;
        let Self { arbiters, program, external, .. } = self;
        if is_plan_only {
            // A standby for ever needs no Lease.
            election = None;
        }
        election.as_ref().map(LeaderElection::validate).transpose()?;
        let is_protected = auth != Auth::None && tls.is_some();
        if let (Some(address), false) = (&web, is_protected || is_open_allowed) {
            refuse_exposure(address)?;
        }
        let certificates = tls.map(Tls::load).transpose()?;
        let listener = web.as_deref().map(web::listen).transpose()?;
        let around = async || Connect::InCluster.connection_of_supervisor().await;
        let connect = connect.unwrap_or_else(|| Box::new(move || around().boxed()));
        Ok(Parts {
            connect,
            operators,
            external,
            listener,
            auth,
            certificates,
            proxy,
            on_ready,
            election,
            is_plan_only,
            expects_registrations,
            arbiters,
            program,
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
