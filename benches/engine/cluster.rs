//! The API server of a measurement, and its log of requests. Each figure starts its own.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;
use clap::ValueEnum;
use futures::future::BoxFuture;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use operetta_apiserver::Server;
use operetta_controlplane::{AuditEvent, ControlPlane, Options};
use tokio::task::block_in_place;

use crate::requests::{Request, Requests};

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

/// A position in the log of requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark(usize);

/// How a supervisor connects.
pub(crate) type Connect = Box<dyn FnOnce() -> BoxFuture<'static, Result<Client>> + Send>;

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

    /// The same for another process, with lists of shards or without them.
    pub(crate) async fn with_shards(kind: ClusterKind, selects: bool) -> Result<Self> {
        if kind == ClusterKind::Controlplane {
            let options = Options::default().controller_manager(false);
            let options = options.feature_gate("ShardedListAndWatch", selects);
            let start = move || ControlPlane::start_with(&options);
            return Ok(Self::Real(Box::new(tokio::task::spawn_blocking(start).await??)));
        }
        let builder = Server::builder();
        let server = if selects { builder.sharded_lists() } else { builder }.start();
        let listening = server.serve(([127, 0, 0, 1], 0).into())?;
        Ok(Self::Tls { server, listening })
    }

    /// A client that belongs to the calling runtime.
    pub(crate) async fn client(&self) -> Result<Client> {
        self.connector()().await
    }

    /// A client that needs no connection where the server is in this process.
    pub(crate) async fn direct_client(&self) -> Result<Client> {
        match self {
            Self::InProcess(server) | Self::Tls { server, .. } => Ok(server.client()),
            Self::Real(_) => self.client().await,
        }
    }

    /// How another runtime connects.
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
                let name = format!("engine-{}.kubeconfig", std::process::id());
                let path = std::env::temp_dir().join(name);
                listening.write_kubeconfig(&path)?;
                Ok(path)
            }
            Self::Real(control_plane) => Ok(control_plane.kubeconfig_path().to_owned()),
        }
    }

    /// Removes such a file after it has been read, unless it is the server's: it holds a credential.
    pub(crate) fn remove(&self, kubeconfig: &Path) -> Result<()> {
        if matches!(self, Self::Tls { .. }) {
            fs::remove_file(kubeconfig)?;
        }
        Ok(())
    }

    /// The content of such a file.
    pub(crate) fn kubeconfig_text(&self) -> Result<String> {
        match self {
            Self::InProcess(_) => anyhow::bail!("another process cannot reach a server in process"),
            Self::Tls { listening, .. } => Ok(listening.kubeconfig().to_owned()),
            Self::Real(control_plane) => {
                Ok(std::fs::read_to_string(control_plane.kubeconfig_path())?)
            }
        }
    }

    /// From here on requests are counted.
    pub(crate) fn mark(&self) -> Result<Mark> {
        match self {
            Self::InProcess(server) | Self::Tls { server, .. } => {
                // The log is bounded.
                server.clear_requests();
                Ok(Mark(0))
            }
            Self::Real(control_plane) => Ok(Mark(whole_log(control_plane)?.len())),
        }
    }

    /// The requests since then of clients whose user agent has this prefix.
    pub(crate) async fn requests(&self, since: Mark, user_agent: &str) -> Result<Requests> {
        match self {
            Self::InProcess(server) | Self::Tls { server, .. } => {
                let requests = server.requests().await.into_iter();
                let by = requests.filter(|request| request.user_agent.starts_with(user_agent));
                Ok(Requests::count(by.map(|request| {
                    let subresource = if request.path.ends_with("/status") { "status" } else { "" };
                    Request::new(&request.verb, &request.resource, subresource, request.status)
                })))
            }
            Self::Real(control_plane) => {
                let events = whole_log(control_plane)?.into_iter().skip(since.0);
                let by = events.filter(|event| event.user_agent.starts_with(user_agent));
                // A watch is logged twice: when it begins, and when it ends.
                let begun = by.filter(|e| e.verb != "watch" || e.stage == "ResponseStarted");
                Ok(Requests::count(
                    begun.map(|e| Request::new(&e.verb, &e.resource, &e.subresource, e.code)),
                ))
            }
        }
    }
}

/// The log of a real server, which may wait for answers.
fn whole_log(control_plane: &ControlPlane) -> Result<Vec<AuditEvent>> {
    Ok(block_in_place(|| control_plane.audit_events())?)
}

/// A client from the content of a kubeconfig.
pub(crate) async fn connect(kubeconfig: Kubeconfig) -> Result<Client> {
    client_of(config(kubeconfig).await?)
}

pub(crate) async fn config(kubeconfig: Kubeconfig) -> Result<Config> {
    let options = KubeConfigOptions::default();
    Ok(without_retries(Config::from_custom_kubeconfig(kubeconfig, &options).await?))
}

/// Without retries, which would distort the figures.
pub(crate) fn client_of(config: Config) -> Result<Client> {
    Ok(Client::try_from(without_retries(config))?)
}

fn without_retries(mut config: Config) -> Config {
    config.default_retry = false;
    config
}
