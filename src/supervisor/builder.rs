//! What a supervisor is made of.

use std::{
    collections::BTreeSet,
    fmt,
    future::Future,
    net::{SocketAddr, TcpListener, ToSocketAddrs},
    panic::{self, AssertUnwindSafe},
    sync::Arc,
    thread,
    time::Duration,
};

use futures::FutureExt;
use kube::Client;
use tokio::{runtime::Handle, sync::oneshot};

use super::{
    Connect, Ready, RunError, Running,
    running::StopSignal,
    system::{self, Connecting, OnReady, Parts},
};
use crate::{
    cluster::Timeouts,
    operator::{ConfigError, Handler, OperatorConfig},
    web::{self, Auth, LogLevel, Program, Tls, TlsProxy},
};

/// Runs operators. Made by [`Supervisor::builder`].
#[derive(Debug)]
pub struct Supervisor;

/// Collects operators and settings; [`run`](Self::run) or [`start`](Self::start) ends it.
#[must_use]
pub struct SupervisorBuilder {
    connect: Option<Connecting>,
    operators: Vec<(OperatorConfig, Arc<dyn Handler>)>,
    web: Option<String>,
    auth: Auth,
    tls: Option<Tls>,
    proxy: Option<TlsProxy>,
    is_open_allowed: bool,
    on_ready: Option<OnReady>,
    arbiters: usize,
    program: Program,
}

/// Deciding takes little time: on a small machine more threads cost more than they save.
fn arbiters() -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (cores / 4).min(4)
}

impl Supervisor {
    /// A supervisor without operators, for the cluster that it runs in.
    pub fn builder() -> SupervisorBuilder {
        let operators = Vec::new();
        SupervisorBuilder {
            connect: None,
            operators,
            web: None,
            auth: Auth::None,
            tls: None,
            proxy: None,
            is_open_allowed: false,
            on_ready: None,
            arbiters: arbiters(),
            program: Program::default(),
        }
    }
}

impl SupervisorBuilder {
    /// Says which cluster to reach. Without it the one around this process.
    pub fn connect_to(self, cluster: Connect) -> Self {
        self.connect(move || cluster.client_of_supervisor())
    }

    /// Says how to reach the API server, where [`connect_to`](Self::connect_to) cannot.
    ///
    /// `connect` runs on the supervisor's own runtime. A client should not retry by itself
    /// (`kube::Config::default_retry = false`): the schedule of a parent does it better.
    pub fn connect<F, Fut>(mut self, connect: F) -> Self
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = anyhow::Result<Client>> + Send + 'static,
    {
        self.connect = Some(Box::new(move || connect().boxed()));
        self
    }

    /// Adds an operator. What is wrong with its configuration is said by `run` or `start`.
    pub fn register(mut self, config: OperatorConfig, handler: impl Handler) -> Self {
        self.operators.push((config, Arc::new(handler)));
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

    /// Says who may use the web endpoint. Without it whoever reaches it.
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = auth;
        self
    }

    /// Serves the web endpoint over TLS.
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Says that visitors reach the web endpoint through a proxy that ends TLS: its cookie is `Secure`,
    /// what browsers say of their origin begins with `https`, and on loopback this host is
    /// answered too. The proxy passes on the `Host` that it was asked for; `X-Forwarded-*` is not
    /// read. It stands for no [`tls`](Self::tls) between the proxy and here.
    pub fn behind_tls_proxy(mut self, proxy: TlsProxy) -> Self {
        self.proxy = Some(proxy);
        self
    }

    /// Serves beyond loopback also without [`auth`](Self::auth), to whoever reaches the port, or
    /// without [`tls`](Self::tls), where tokens can be read on their way.
    pub fn allow_insecure_listen(mut self) -> Self {
        self.is_open_allowed = true;
        self
    }

    /// Sets how long the API server may be silent.
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.program.settings.timeouts = timeouts;
        self
    }

    /// Sets how long nothing of a type is deleted after the API server went back to an earlier version
    /// of it, as one does that was restored from a backup. Default a minute.
    pub fn with_deletions_held_for(mut self, time: Duration) -> Self {
        self.program.settings.deletions_held = time;
        self
    }

    /// Lets the API server stream lists as the first events of their watches (`sendInitialEvents`,
    /// KEP-3157), where it can. Without it they are read in pages, and each watch goes on from its
    /// list.
    ///
    /// A stream costs kube-apiserver no read of its storage, but about twice the CPU of pages, so
    /// that a start over many objects takes longer. It is for servers that read pages from etcd:
    /// those older than Kubernetes 1.34, which keeps snapshots for them (KEP-4988).
    pub fn streaming_lists(mut self) -> Self {
        self.program.settings.streaming_lists = true;
        self
    }

    /// Sets over how many arbiters, which are threads, the reconcilers of all parents are spread by
    /// uid; zero keeps them on the thread of the other actors. Default one for each four cores, and
    /// four at most. They only decide: requests, plans and handlers are on other threads.
    pub fn with_arbiters(mut self, count: usize) -> Self {
        self.arbiters = count;
        self
    }

    /// Lets the web endpoint show and change what is logged, at `/log-level`. Without it that path
    /// answers 404: how logs are set up is the program's.
    pub fn log_level(mut self, logs: impl LogLevel) -> Self {
        self.program.log_level = Some(Arc::new(logs));
        self
    }

    /// Tells what the program is called and which version it is, for `/version` and, before the
    /// framework and the operator, for the `User-Agent` of its requests to the API server.
    pub fn program(mut self, name: &str, version: &str) -> Self {
        self.program.name = Some((name.to_owned(), version.to_owned()));
        self
    }

    /// Adds routes of the program's own to the web endpoint, beside those of the framework; more
    /// than one call adds more. Handlers read the stores through [`Stores`](web::Stores).
    ///
    /// They pass the same checks as every other request, whatever these are, and their answers
    /// carry the same headers. A path that the framework answers stays the framework's, with every
    /// method, and so does all below `/api/v1`; a default service answers the rest. A handler runs on
    /// the thread of the endpoint: what blocks belongs into `actix_web::web::block`. What they show
    /// of Secrets is theirs to protect: nothing is redacted.
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

    /// Calls back once, when every operator runs or is degraded with a stated reason. On the thread
    /// of the actors: it must not block. A panic is logged, and the operators go on.
    pub fn on_ready(mut self, call: impl FnOnce(&Ready) + Send + 'static) -> Self {
        self.on_ready = Some(Box::new(call));
        self
    }

    /// Runs until SIGINT or SIGTERM, then finishes what is in flight (at most 4 seconds) and
    /// returns. A program that exits then exits within 5 seconds, whatever its handlers do.
    ///
    /// # Errors
    /// When it cannot start, also within a tokio runtime as that of `#[tokio::main]`: it has its own,
    /// and blocks. Call it from a plain `main`, or within `spawn_blocking`. See [`RunError`].
    pub fn run(self) -> Result<(), RunError> {
        let (parts, _) = self.prepare()?;
        // Nobody waits for this: the caller is told by the return value.
        let (started, _) = oneshot::channel();
        system::run(parts, started, StopSignal::Process)
    }

    /// Runs on a thread of its own until the returned handle is stopped or dropped.
    ///
    /// # Errors
    /// When it cannot start, also on a thread of a tokio runtime, because it blocks: use
    /// `tokio::task::spawn_blocking` there. See [`RunError`].
    pub fn start(self) -> Result<Running, RunError> {
        let (parts, web) = self.prepare()?;
        let (started, was_started) = oneshot::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("operetta".to_owned())
            .spawn(move || system::run(parts, started, StopSignal::Handle(stopped)))?;
        let handles = was_started.blocking_recv();
        match handles {
            Ok(handles) => Ok(Running::new(handles, web, stop, thread)),
            Err(_) => {
                Err(thread.join().map_err(|_| RunError::Died)?.err().unwrap_or(RunError::Died))
            }
        }
    }

    /// Checks everything that can be checked without a cluster, and takes the port.
    fn prepare(self) -> Result<(Parts, Option<SocketAddr>), RunError> {
        if cfg!(panic = "abort") {
            return Err(RunError::PanicAborts);
        }
        check(&self.operators)?;
        if !may_block() {
            return Err(RunError::WithinRuntime);
        }
        let Self { connect, operators, web, auth, tls, proxy, is_open_allowed, .. } = self;
        let Self { on_ready, arbiters, program, .. } = self;
        let is_protected = auth != Auth::None && tls.is_some();
        if let (Some(address), false) = (&web, is_protected || is_open_allowed) {
            refuse_exposure(address)?;
        }
        let certificates = tls.map(Tls::load).transpose()?;
        let listener = web.as_deref().map(web::listen).transpose()?;
        let address = listener.as_ref().map(TcpListener::local_addr).transpose()?;
        let around = || Connect::InCluster.client_of_supervisor().boxed();
        let connect = connect.unwrap_or_else(|| Box::new(around));
        let parts = Parts {
            connect,
            operators,
            listener,
            auth,
            certificates,
            proxy,
            on_ready,
            arbiters,
            program,
        };
        Ok((parts, address))
    }
}

/// Whether this thread drives no runtime. One that has a runtime may block all the same, as that of
/// `spawn_blocking`, and tokio tells the difference by a panic alone.
fn may_block() -> bool {
    let Ok(runtime) = Handle::try_current() else { return true };
    panic::catch_unwind(AssertUnwindSafe(|| runtime.block_on(async {}))).is_ok()
}

/// Before the port is taken: it would be open already.
fn refuse_exposure(address: &str) -> Result<(), RunError> {
    // What is no address is said when it is to be listened on.
    let mut addresses = address.to_socket_addrs().into_iter().flatten();
    match addresses.find(|address| !address.ip().is_loopback()) {
        Some(exposed) => Err(RunError::Exposed(exposed)),
        None => Ok(()),
    }
}

impl fmt::Debug for SupervisorBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.operators.iter().map(|(c, _)| c.name.as_str()).collect();
        f.debug_struct("SupervisorBuilder").field("operators", &names).finish_non_exhaustive()
    }
}

fn check(operators: &[(OperatorConfig, Arc<dyn Handler>)]) -> Result<(), RunError> {
    if operators.is_empty() {
        return Err(RunError::NoOperators);
    }
    let (mut names, mut parents) = (BTreeSet::new(), BTreeSet::new());
    for (config, _) in operators {
        config.validate()?;
        if !names.insert(&config.name) {
            return Err(ConfigError::Duplicate(config.name.clone()).into());
        }
        let (group, kind) = (config.parent.group(), config.parent.kind());
        if !parents.insert((group, kind)) {
            return Err(ConfigError::SharedParent(config.parent.clone()).into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
