//! The server handle, with the controls for tests.

use std::{fmt, net::SocketAddr, path::Path, sync::Arc};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use tokio::sync::{mpsc, watch};

use crate::{
    addresses::Addresses,
    admission::Chains,
    callout::Services,
    clock::{Clock, Ids},
    cluster::Cluster,
    controllers,
    credentials::Keychain,
    deep::{self, Turns},
    initial,
    log::{self, Committed, Log},
    persistence::{self, DataDirectoryError, Persistence},
    published::Published,
    rbac::{self, Authorizer},
    recovery,
    requests::{RequestRecord, Requests, WatchRecord},
    resource::Registry,
    rest::{self, Body},
    shared::Shared,
    simulation::{self, WorkloadTiming},
    users::Tokens,
};

/// How many revisions per resource are kept by default.
const HISTORY: usize = 8192;
/// How many bytes of objects there may be by default: the quota of etcd.
const STORAGE: usize = 2 << 30;
/// How many requests are kept by default.
const REQUEST_HISTORY: usize = 100_000;

/// An embedded Kubernetes API server. Cheap to clone; all clones are one server, which ends with
/// the last of them, its clients and its open watches.
#[derive(Clone)]
pub struct Server {
    pub(crate) shared: Arc<Shared>,
    layer: Option<Layer>,
}

/// All objects of a server at one moment, see [`Server::restore`].
#[derive(Debug, Clone)]
pub struct Backup(log::Backup);

/// Wraps the handler: it may answer itself, wait, or change requests and answers.
pub type Layer =
    Arc<dyn Fn(Request<Bytes>, Next) -> BoxFuture<'static, Response<Body>> + Send + Sync>;

/// The handler behind a [`Layer`].
#[derive(Clone)]
pub struct Next(Arc<Shared>);

/// Settings of a server that is to be started.
#[derive(Clone, Default)]
pub struct Builder {
    seed: Option<u64>,
    history: Option<usize>,
    storage: Option<usize>,
    layer: Option<Layer>,
    authorization: rbac::Mode,
    services: Services,
    simulation: Option<WorkloadTiming>,
    controllers: controllers::Running,
    defaults: bool,
    sharded_lists: bool,
}

impl Server {
    /// Settings to start from.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Starts a server with default settings; call it within a tokio runtime.
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// Answers a request, without a socket. Whoever calls this is trusted.
    pub async fn handle(&self, request: Request<Bytes>) -> Response<Body> {
        match &self.layer {
            Some(layer) => layer(request, Next(Arc::clone(&self.shared))).await,
            None => rest::handle(&self.shared, request).await,
        }
    }

    /// The requests received so far, oldest first by their end (the newest 100,000).
    ///
    /// Whoever has seen an effect of a request finds it here: this waits until every request is answered that was in
    /// progress at the call, also one that an admission webhook holds. A watch is answered when it begins.
    pub async fn requests(&self) -> Vec<RequestRecord> {
        self.shared.requests.answered().await
    }

    /// Forgets the requests answered so far.
    pub fn clear_requests(&self) {
        self.shared.requests.clear();
    }

    /// The watches that are open now.
    pub fn open_watches(&self) -> Vec<WatchRecord> {
        self.shared.requests.open()
    }

    /// The newest resource version.
    pub fn resource_version(&self) -> u64 {
        self.shared.cluster.log.head()
    }

    /// Compacts the history, so that watches resumed from an older version get 410.
    pub fn compact(&self) {
        self.shared.cluster.log.compact();
    }

    /// All objects as they are now.
    pub fn backup(&self) -> Backup {
        Backup(self.shared.cluster.log.backup())
    }

    /// Restores all objects and versions and closes every open watch, as when the storage of a cluster is
    /// restored. Types must be the same as then; a watch that is resumed from a lost later version waits for
    /// it.
    pub fn restore(&self, backup: &Backup) {
        self.shared.cluster.log.restore(&backup.0);
        self.shared.authorizer.policy.reset();
        self.cut_watches();
    }

    /// Makes every change durable and gives the data directory free, for another server; then every request
    /// is refused, and every watch is closed. Without a data directory it does nothing.
    pub async fn close(&self) {
        if let Some(persistence) = &self.shared.persistence {
            persistence.close(&self.shared.cluster.log).await;
            self.cut_watches();
        }
    }

    /// Waits until the data directory cannot be written any more, and says why: from then on every request
    /// is refused. Without a data directory it waits forever.
    pub async fn persistence_failure(&self) -> String {
        match &self.shared.persistence {
            Some(persistence) => persistence.failure().await,
            None => std::future::pending().await,
        }
    }

    /// Closes every open watch.
    pub fn cut_watches(&self) {
        self.shared.cuts.send_modify(|cuts| *cuts += 1);
    }
}

impl Builder {
    /// Makes uids and generated names repeatable.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// How many revisions per resource a watch can be resumed over.
    #[must_use]
    pub fn history(mut self, revisions: usize) -> Self {
        self.history = Some(revisions);
        self
    }

    /// How many bytes of objects there may be (2 GiB, as in etcd); the history takes at most half as many
    /// more. A write beyond is refused as etcd refuses it, and the oldest revisions are forgotten.
    #[must_use]
    pub fn storage(mut self, bytes: usize) -> Self {
        self.storage = Some(bytes);
        self
    }

    /// Says where a Service answers, for webhooks whose configuration names it. Other Services cannot be
    /// called, and other addresses only on loopback.
    #[must_use]
    pub fn service(mut self, namespace: &str, name: &str, address: SocketAddr) -> Self {
        self.services.map(namespace, name, address);
        self
    }

    /// Puts a layer before the handler, for faults.
    #[must_use]
    pub fn layer(mut self, layer: Layer) -> Self {
        self.layer = Some(layer);
        self
    }

    /// Enforces what roles and their bindings allow, as the real server does by default. Without this, everybody
    /// may do everything.
    #[must_use]
    pub fn rbac(mut self) -> Self {
        self.authorization = rbac::Mode::Rbac;
        self
    }

    /// Simulates workloads: Pods look as if they ran on a node `embedded`, and Deployments become ready. Nothing runs.
    /// Without this there is no scheduler, no kubelet and no controller of workloads.
    #[must_use]
    pub fn simulate_workloads(mut self, timing: WorkloadTiming) -> Self {
        self.simulation = Some(timing);
        self
    }

    /// Runs no controllers but those of kube-apiserver itself, as a control plane without
    /// kube-controller-manager: nothing is collected, no namespace ends or gets anything, no budget or quota is
    /// counted, no claim is released and no certificate is signed.
    #[must_use]
    pub fn without_controller_manager(mut self) -> Self {
        self.controllers = controllers::Running::OfApiServer;
        self
    }

    /// Gives every namespace its `ServiceAccount` `default` and the `ConfigMap` `kube-root-ca.crt`, as
    /// kube-controller-manager does. Without this there is neither, and a namespace is empty.
    #[must_use]
    pub fn namespace_defaults(mut self) -> Self {
        self.defaults = true;
        self
    }

    /// Lists and watches of shards, with the parameter `shardSelector`, as in kube-apiserver with the feature gate
    /// `ShardedListAndWatch`. Without this the parameter is ignored, as there by default: everything is listed, and
    /// nothing says that it is more than was asked for.
    #[must_use]
    pub fn sharded_lists(mut self) -> Self {
        self.sharded_lists = true;
        self
    }

    /// Starts the server; call it within a tokio runtime, which runs its controllers.
    pub fn start(self) -> Server {
        let cluster = self.cluster();
        initial::objects(&cluster);
        let commits = cluster.log.follow();
        self.run(cluster, None, commits)
    }

    /// Starts the server with a data directory, which is created if it does not exist: what an earlier
    /// server left there is served again. Call it within a tokio runtime, which runs its controllers.
    ///
    /// Nothing that was answered is lost when the process is killed. Only one server at a time can use the
    /// directory; [`Server::close`] gives it free.
    pub fn start_in(self, directory: &Path) -> Result<Server, DataDirectoryError> {
        let mut opened = persistence::Opened::open(directory)?;
        let keychain = Keychain::of(opened.directory().clone());
        let cluster = Cluster { keychain, ..self.cluster() };
        // Whatever was persisted is no deeper than what may be.
        let persisted = deep::deep(|| opened.read())?;
        recovery::load(&cluster, persisted);
        let persistence = opened.persist(&cluster.log, self.history.unwrap_or(HISTORY))?;
        recovery::serve(&cluster);
        initial::objects(&cluster);
        let commits = cluster.log.follow_states();
        Ok(self.run(cluster, Some(persistence), commits))
    }

    fn cluster(&self) -> Cluster {
        let log = Log::new(self.history.unwrap_or(HISTORY));
        Cluster {
            log: Arc::new(log.within(self.storage.unwrap_or(STORAGE))),
            registry: Registry::new(initial::resources()),
            clock: Clock::new(),
            ids: Ids::new(self.seed.unwrap_or_else(random_seed)),
            addresses: Addresses::default(),
            keychain: Keychain::default(),
            graceful: self.simulation.is_some(),
            on_definition: controllers::publish,
            publishing: std::sync::Mutex::default(),
        }
    }

    fn run(
        self,
        cluster: Cluster,
        persistence: Option<Persistence>,
        commits: mpsc::UnboundedReceiver<Committed>,
    ) -> Server {
        let simulation = self.simulation.map(|timing| (timing, cluster.log.follow_states()));
        let shared = Arc::new(Shared {
            cluster,
            requests: Arc::new(Requests::new(REQUEST_HISTORY)),
            cuts: watch::Sender::new(0),
            rendered: Arc::default(),
            published: Published::default(),
            turn: tokio::sync::Mutex::default(),
            tokens: Tokens::default(),
            services: Arc::new(self.services),
            chains: Chains::default(),
            persistence,
            authorizer: Authorizer::new(self.authorization),
            impersonation: rbac::Impersonation::default(),
            sharded_lists: self.sharded_lists,
        });
        let running = match self.controllers {
            controllers::Running::All if self.defaults => {
                controllers::complete_all(&shared.cluster);
                controllers::Running::AllWithDefaults
            }
            running => running,
        };
        let controllers = controllers::run(Arc::downgrade(&shared), commits, running);
        tokio::spawn(Turns::of(controllers));
        if let Some((timing, commits)) = simulation {
            let simulation = simulation::run(Arc::downgrade(&shared), commits, timing);
            tokio::spawn(Turns::of(simulation));
        }
        Server { shared, layer: self.layer }
    }
}

impl Next {
    /// Answers a request as the server does.
    pub async fn handle(&self, request: Request<Bytes>) -> Response<Body> {
        rest::handle(&self.0, request).await
    }
}

/// A seed from the hasher keys that the standard library draws at random.
pub(crate) fn random_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("resource_version", &self.resource_version()).finish()
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Next")
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, history, storage, layer, authorization, .. } = self;
        let Self { services, simulation, controllers, defaults, .. } = self;
        f.debug_struct("Builder")
            .field("seed", seed)
            .field("history", history)
            .field("storage", storage)
            .field("layer", &layer.is_some())
            .field("authorization", authorization)
            .field("services", services)
            .field("simulation", simulation)
            .field("controllers", controllers)
            .field("defaults", defaults)
            .finish()
    }
}
