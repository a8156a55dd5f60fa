//! The API server that a test uses.
//!
//! The cluster of a kubeconfig is used only with `OPERETTA_TEST_CLUSTER=kubeconfig`, by one test at a time.
//! [`crate::needs`] has the features that a server does not offer.

use std::sync::{LazyLock, OnceLock};

use futures::{FutureExt, future::BoxFuture};
use kube::{
    Client,
    client::ClientBuilder,
    config::{KubeConfigOptions, Kubeconfig},
};
use operetta::supervisor::Connection;
use operetta_apiserver::{
    RequestRecord, Running, Server, User, WorkloadTiming,
    faults::{FaultLayer, FaultPlan},
};
use operetta_controlplane::{ControlPlane, Error, GivenCluster, Options, Version};
use operetta_harness::ignore_outside_ci;
use tokio::sync::{Mutex, MutexGuard};
use tower::Layer;

use crate::needs::Chosen;

/// One request as the server received it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) verb: String,
    pub(crate) resource: String,
    pub(crate) subresource: String,
    /// Path and query.
    pub(crate) uri: String,
    pub(crate) user_agent: String,
    pub(crate) user: String,
    pub(crate) code: u16,
}

/// Creates the client of a supervisor on its own runtime.
pub(crate) type Connector =
    Box<dyn FnOnce() -> BoxFuture<'static, anyhow::Result<Connection>> + Send>;

impl Request {
    pub(crate) fn is_write(&self) -> bool {
        !["get", "list", "watch"].contains(&self.verb.as_str())
    }

    /// The namespace of the request, if there is one.
    pub(crate) fn namespace(&self) -> Option<&str> {
        let (_, after) = self.uri.split_once("/namespaces/")?;
        let path = after.split('?').next()?;
        let (namespace, _) = path.split_once('/')?;
        Some(namespace)
    }

    /// The label selector of a list or watch.
    pub(crate) fn selector(&self) -> Option<String> {
        let (_, query) = self.uri.split_once('?')?;
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs.find(|(name, _)| name == "labelSelector").map(|(_, value)| value.into_owned())
    }
}

/// The cluster of a test.
pub(crate) enum Cluster {
    /// The real control plane; there is one per test program, used by one test at a time.
    Real(&'static ControlPlane, #[expect(dead_code, reason = "held")] MutexGuard<'static, ()>),
    /// The test's own embedded server, and its TCP listener once it is used.
    Embedded(Server, OnceLock<Running>),
    /// The cluster of a kubeconfig, used by one test at a time.
    Given(Box<GivenCluster>, #[expect(dead_code, reason = "held")] MutexGuard<'static, ()>),
}

/// A backup of a server.
pub(crate) enum Backup {
    Real(operetta_controlplane::Backup),
    Embedded(operetta_apiserver::Backup),
}

static ONE_AT_A_TIME: LazyLock<Mutex<()>> = LazyLock::new(Mutex::default);

impl Cluster {
    /// The cluster that the environment chooses.
    pub(crate) async fn start() -> Self {
        match Chosen::from_environment() {
            Chosen::Embedded => Self::Embedded(Server::start(), OnceLock::new()),
            Chosen::ControlPlane(version) => Self::real(version).await,
            Chosen::Kubeconfig => {
                let guard = ONE_AT_A_TIME.lock().await;
                let given = GivenCluster::from_environment().await.unwrap();
                Self::Given(Box::new(given), guard)
            }
        }
    }

    /// The same, where the embedded server simulates workloads.
    pub(crate) async fn with_workloads() -> Self {
        if Chosen::from_environment() != Chosen::Embedded {
            return Self::start().await;
        }
        let server = Server::builder().simulate_workloads(WorkloadTiming::immediate());
        Self::Embedded(server.start(), OnceLock::new())
    }

    /// The same, where the embedded server also enforces roles.
    pub(crate) async fn with_roles() -> Self {
        if Chosen::from_environment() != Chosen::Embedded {
            return Self::start().await;
        }
        let server = Server::builder().rbac().simulate_workloads(WorkloadTiming::immediate());
        Self::Embedded(server.start(), OnceLock::new())
    }

    /// Ignores the test where there is no control plane and nothing to build one with.
    async fn real(version: Version) -> Self {
        static SHARED: OnceLock<Result<ControlPlane, Error>> = OnceLock::new();
        let guard = ONE_AT_A_TIME.lock().await;
        let options = gated(Options::default().version(version));
        let start = move || SHARED.get_or_init(|| ControlPlane::start_with(&options));
        match tokio::task::spawn_blocking(start).await.unwrap() {
            Ok(shared) => Self::Real(shared, guard),
            Err(missing @ Error::Unavailable { .. }) => ignore_outside_ci(missing),
            Err(error) => panic!("{error}"),
        }
    }

    /// An administrator's client for the calling runtime.
    pub(crate) fn client(&self) -> Client {
        match self {
            Self::Real(cluster, _) => cluster.client().unwrap(),
            Self::Embedded(server, _) => server.client(),
            Self::Given(cluster, _) => Client::try_from(cluster.kube_config()).unwrap(),
        }
    }

    /// Connects a supervisor as an administrator.
    pub(crate) fn connector(&self) -> Connector {
        match self {
            Self::Real(cluster, _) => connector_to(cluster.kube_config()),
            Self::Embedded(server, _) => {
                let server = server.clone();
                Box::new(move || async move { Ok(server.client().into()) }.boxed())
            }
            Self::Given(cluster, _) => connector_to(cluster.kube_config()),
        }
    }

    /// The same through injected faults between supervisor and server.
    pub(crate) fn connector_through(&self, plan: &FaultPlan) -> Connector {
        let layer = FaultLayer::new(plan);
        if let Self::Embedded(server, _) = self {
            let service = server.service_as("kube-rs");
            return Box::new(move || {
                async move { Ok(Client::new(layer.layer(service), "default").into()) }.boxed()
            });
        }
        let mut config = self.kube_config();
        config.default_retry = false;
        Box::new(move || {
            async move { Ok(ClientBuilder::try_from(config)?.with_layer(&layer).build().into()) }
                .boxed()
        })
    }

    /// An administrator's configuration for TCP.
    pub(crate) fn kube_config(&self) -> kube::Config {
        match self {
            Self::Real(cluster, _) => cluster.kube_config(),
            Self::Embedded(..) => config_of(self.running().kubeconfig()),
            Self::Given(cluster, _) => cluster.kube_config(),
        }
    }

    /// An administrator's kubeconfig, for kubectl.
    pub(crate) fn kubeconfig(&self) -> String {
        match self {
            Self::Real(cluster, _) => std::fs::read_to_string(cluster.kubeconfig_path()).unwrap(),
            Self::Embedded(..) => self.running().kubeconfig().to_owned(),
            Self::Given(..) => panic!("a test with kubectl needs a server of its own"),
        }
    }

    /// The embedded server on a port.
    fn running(&self) -> &Running {
        let Self::Embedded(server, running) = self else { panic!("it runs already") };
        running.get_or_init(|| server.serve("127.0.0.1:0".parse().unwrap()).unwrap())
    }

    /// The configuration of a user with only RBAC permissions.
    pub(crate) fn kube_config_for(&self, user: &str) -> kube::Config {
        match self {
            Self::Real(cluster, _) => cluster.kube_config_for(user).unwrap(),
            Self::Embedded(..) => {
                let kubeconfig = self.running().kubeconfig_of(&User::new(user)).unwrap();
                config_of(&kubeconfig)
            }
            Self::Given(..) => panic!("begin the test with World::that_enforces_rbac"),
        }
    }

    /// Compacts the history of the server, so that a watch cannot continue from its version. On the real
    /// one this ends every connection.
    pub(crate) async fn forget_history(&self) {
        match self {
            Self::Real(cluster, _) => {
                let cluster = *cluster;
                let forget = move || cluster.compact().and_then(|_| cluster.restart_apiserver());
                tokio::task::spawn_blocking(forget).await.unwrap().unwrap();
            }
            Self::Embedded(server, _) => {
                server.compact();
                server.cut_watches();
            }
            Self::Given(..) => panic!("begin the test with World::that_can_forget"),
        }
    }

    /// Takes a backup of the server. On the real one this ends every connection.
    pub(crate) async fn backup(&self) -> Backup {
        match self {
            Self::Real(cluster, _) => {
                let cluster = *cluster;
                let backup = tokio::task::spawn_blocking(|| cluster.backup()).await;
                Backup::Real(backup.unwrap().unwrap())
            }
            Self::Embedded(server, _) => Backup::Embedded(server.backup()),
            Self::Given(..) => panic!("begin the test with needs(Need::Backup)"),
        }
    }

    /// Restores the server from a backup: its versions regress. On the real one this ends every
    /// connection.
    pub(crate) async fn restore(&self, backup: Backup) {
        match (self, backup) {
            (Self::Real(cluster, _), Backup::Real(backup)) => {
                let cluster = *cluster;
                let restore = move || cluster.restore(&backup);
                tokio::task::spawn_blocking(restore).await.unwrap().unwrap();
            }
            (Self::Embedded(server, _), Backup::Embedded(backup)) => server.restore(&backup),
            _ => panic!("a backup of this server"),
        }
    }

    /// The requests that the server has answered (watches: begun to answer), oldest first.
    ///
    /// Every request is there whose effect was to be seen before the call: this waits for the answers of those that are
    /// in progress. What the operators have not sent yet is not: let them settle first.
    pub(crate) async fn requests(&self) -> Vec<Request> {
        match self {
            Self::Real(cluster, _) => {
                let cluster = *cluster;
                let events = tokio::task::spawn_blocking(|| cluster.audit_events()).await;
                let events = events.unwrap().unwrap().into_iter();
                let begun = events
                    .filter(|event| event.stage == "ResponseStarted" || event.verb != "watch");
                begun
                    .map(|event| Request {
                        verb: event.verb,
                        resource: event.resource,
                        subresource: event.subresource,
                        uri: event.uri,
                        user_agent: event.user_agent,
                        user: event.user,
                        code: event.code,
                    })
                    .collect()
            }
            Self::Embedded(server, _) => {
                server.requests().await.into_iter().map(Request::from).collect()
            }
            Self::Given(..) => panic!("begin the test with World::that_logs_requests"),
        }
    }
}

impl From<RequestRecord> for Request {
    fn from(record: RequestRecord) -> Self {
        let RequestRecord { method, path, query, verb, resource, user_agent, user, status } =
            record;
        let verb = if verb.is_empty() { method.to_lowercase() } else { verb };
        let resource = resource.split('.').next().unwrap_or_default().to_owned();
        let subresource = if path.ends_with("/status") { "status" } else { "" }.to_owned();
        let uri = format!("{path}?{query}");
        Self { verb, resource, subresource, uri, user_agent, user, code: status }
    }
}

/// Switches the feature gates on that the environment names: `OPERETTA_TEST_FEATURE_GATES=ShardedListAndWatch`.
fn gated(options: Options) -> Options {
    let names = std::env::var("OPERETTA_TEST_FEATURE_GATES").unwrap_or_default();
    let names = names.split(',').filter(|name| !name.is_empty());
    names.fold(options, |options, name| options.feature_gate(name, true))
}

fn config_of(kubeconfig: &str) -> kube::Config {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options);
    futures::executor::block_on(config).unwrap()
}

/// Connects with this configuration, without retries by the client.
pub(crate) fn connector_to(mut config: kube::Config) -> Connector {
    config.default_retry = false;
    Box::new(move || async move { Ok(config.into()) }.boxed())
}
