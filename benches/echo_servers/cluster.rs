//! The API server that is measured on, and what it says it was asked. Each figure starts its own.

use std::{collections::BTreeMap, fmt, path::PathBuf, time::Duration};

use anyhow::Result;
use clap::ValueEnum;
use futures::future::BoxFuture;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use operetta_apiserver::Server;
use operetta_controlplane::{ControlPlane, Options};

/// Which API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClusterKind {
    /// The embedded server, without sockets
    Embedded,
    /// The embedded server over TLS, in this process too
    EmbeddedTls,
    /// A real etcd and kube-apiserver, without kube-controller-manager: nothing here needs it
    Controlplane,
}

/// A running API server.
pub(crate) enum Cluster {
    InProcess(Server),
    Tls { server: Server, listening: operetta_apiserver::Running },
    Real(Box<ControlPlane>),
}

/// How a supervisor connects.
pub(crate) type Connect = Box<dyn FnOnce() -> BoxFuture<'static, Result<Client>> + Send>;

/// Some of the requests that a server has answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Requests(BTreeMap<Request, usize>);

/// A request as far as requests are told apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Request {
    verb: String,
    resource: String,
    subresource: String,
    refused: Option<u16>,
}

/// The log of kube-apiserver lags its answers a little.
const LOG_IS_STILL_AFTER: Duration = Duration::from_millis(500);

impl ClusterKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::EmbeddedTls => "embedded-tls",
            Self::Controlplane => "controlplane",
        }
    }

    /// The same cluster where another process can reach it.
    pub(crate) fn reachable(self) -> Self {
        if self == Self::Embedded { Self::EmbeddedTls } else { self }
    }
}

impl Cluster {
    pub(crate) async fn start(kind: ClusterKind) -> Result<Self> {
        Ok(match kind {
            ClusterKind::Embedded => Self::InProcess(Server::start()),
            ClusterKind::EmbeddedTls => {
                let server = Server::start();
                let listening = server.serve(([127, 0, 0, 1], 0).into())?;
                Self::Tls { server, listening }
            }
            ClusterKind::Controlplane => {
                let options = Options::default().controller_manager(false);
                let start = move || ControlPlane::start_with(&options);
                Self::Real(Box::new(tokio::task::spawn_blocking(start).await??))
            }
        })
    }

    /// A client for the calling runtime.
    pub(crate) async fn client(&self) -> Result<Client> {
        self.connector()().await
    }

    /// How a runtime of its own connects.
    pub(crate) fn connector(&self) -> Connect {
        match self {
            Self::InProcess(server) => {
                let server = server.clone();
                Box::new(move || Box::pin(async move { Ok(server.client()) }))
            }
            Self::Tls { listening, .. } => {
                let kubeconfig = Kubeconfig::from_yaml(listening.kubeconfig());
                Box::new(move || Box::pin(async move { connect(kubeconfig?).await }))
            }
            Self::Real(control_plane) => {
                let config = control_plane.kube_config();
                Box::new(move || Box::pin(async move { client_of(config) }))
            }
        }
    }

    /// A file with which another process reaches this server.
    pub(crate) fn kubeconfig(&self) -> Result<PathBuf> {
        match self {
            Self::InProcess(_) => anyhow::bail!("another process cannot reach a server in process"),
            Self::Tls { listening, .. } => {
                let name = format!("echo-servers-{}.kubeconfig", std::process::id());
                let path = std::env::temp_dir().join(name);
                listening.write_kubeconfig(&path)?;
                Ok(path)
            }
            Self::Real(control_plane) => Ok(control_plane.kubeconfig_path().to_owned()),
        }
    }

    /// What was asked so far by clients whose user agent begins so.
    pub(crate) async fn requests(&self, user_agent: &str) -> Result<Requests> {
        let mut last = self.logged(user_agent)?;
        if let Self::Real(_) = self {
            loop {
                tokio::time::sleep(LOG_IS_STILL_AFTER).await;
                let now = self.logged(user_agent)?;
                if now == last {
                    break;
                }
                last = now;
            }
        }
        Ok(last)
    }

    fn logged(&self, user_agent: &str) -> Result<Requests> {
        Ok(match self {
            Self::InProcess(server) | Self::Tls { server, .. } => {
                let requests = server.requests().into_iter();
                let by = requests.filter(|request| request.user_agent.starts_with(user_agent));
                Requests::count(by.map(|request| {
                    let subresource = if request.path.ends_with("/status") { "status" } else { "" };
                    Request::new(&request.verb, &request.resource, subresource, request.status)
                }))
            }
            Self::Real(control_plane) => {
                let events = control_plane.audit_events()?.into_iter();
                let by = events.filter(|event| event.user_agent.starts_with(user_agent));
                // A watch is logged twice: when it begins, and when it ends.
                let begun = by.filter(|e| e.verb != "watch" || e.stage == "ResponseStarted");
                Requests::count(
                    begun.map(|e| Request::new(&e.verb, &e.resource, &e.subresource, e.code)),
                )
            }
        })
    }
}

impl Request {
    fn new(verb: &str, resource: &str, subresource: &str, code: u16) -> Self {
        let verb = if verb.is_empty() { "get" } else { verb }.to_owned();
        let resource = resource.split('.').next().unwrap_or_default().to_owned();
        let refused = (code >= 300).then_some(code);
        Self { verb, resource, subresource: subresource.to_owned(), refused }
    }

    fn is_write(&self) -> bool {
        !["get", "list", "watch"].contains(&self.verb.as_str())
    }
}

impl Requests {
    fn count(requests: impl Iterator<Item = Request>) -> Self {
        let mut counts = BTreeMap::new();
        for request in requests {
            *counts.entry(request).or_default() += 1;
        }
        Self(counts)
    }

    /// What came after `earlier`.
    pub(crate) fn since(mut self, earlier: &Self) -> Self {
        for (request, count) in &earlier.0 {
            if let Some(now) = self.0.get_mut(request) {
                *now -= count;
            }
        }
        self.0.retain(|_, count| *count > 0);
        self
    }

    pub(crate) fn writes(&self) -> usize {
        self.0.iter().filter(|(request, _)| request.is_write()).map(|(_, count)| count).sum()
    }

    /// The numbers by verb.
    pub(crate) fn by_verb(&self) -> String {
        let mut verbs: BTreeMap<&str, usize> = BTreeMap::new();
        for (request, count) in &self.0 {
            *verbs.entry(&request.verb).or_default() += count;
        }
        listed(verbs.iter().map(|(verb, count)| format!("{verb} {count}")))
    }
}

impl fmt::Display for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&listed(self.0.iter().map(|(request, count)| format!("{request} {count}"))))
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verb, resource, subresource, refused } = self;
        write!(f, "{verb}")?;
        for name in [resource, subresource].into_iter().filter(|name| !name.is_empty()) {
            write!(f, " {name}")?;
        }
        refused.map_or(Ok(()), |code| write!(f, " refused with {code}"))
    }
}

fn listed(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}

/// A client from the content of a kubeconfig.
pub(crate) async fn connect(kubeconfig: Kubeconfig) -> Result<Client> {
    let options = KubeConfigOptions::default();
    client_of(Config::from_custom_kubeconfig(kubeconfig, &options).await?)
}

/// Nothing is retried behind the figures' back.
fn client_of(mut config: Config) -> Result<Client> {
    config.default_retry = false;
    Ok(Client::try_from(config)?)
}
