//! What a supervisor talks to the API server with.

use std::sync::Arc;

use kube::{Client, Config};
use tokio::task::spawn_blocking;

use super::RunError;
use crate::{
    board::CredentialState,
    cluster::{
        Cause, Loaded, Login, Plugin, Read, client, described, fenced, of_config, reloading,
    },
    election::{Fence, FenceReach},
};

/// A connection to the API server: a client, the configuration of one, or where the configuration is.
///
/// With a configuration the supervisor can make clients of its own. A [leader election](crate::election) needs
/// that to reset connections, and watches have connections of their own then. The credential plugin of a configuration is
/// run by the supervisor. With [`Connect::connection`](super::Connect::connection) it also uses credentials that are replaced on disk.
#[derive(Debug)]
pub struct Connection(Kind);

enum Kind {
    Client(Client),
    Config(Box<Config>),
    Source(Box<Source>),
}

/// A configuration that can be read again.
struct Source {
    read: Read,
    loaded: Loaded,
    state: CredentialState,
    plugin: Arc<Plugin>,
}

/// The clients that are not fenced.
pub(super) struct Clients {
    pub(super) client: Client,
    /// For watches alone, where a second one can be made.
    pub(super) watcher: Option<Client>,
}

/// The credential plugin of a connection. It is killed when this is dropped.
pub(super) struct PluginLife(Arc<Plugin>);

impl Drop for PluginLife {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl From<Client> for Connection {
    fn from(client: Client) -> Self {
        Self(Kind::Client(client))
    }
}

impl From<Config> for Connection {
    fn from(config: Config) -> Self {
        Self(Kind::Config(Box::new(config)))
    }
}

impl Connection {
    /// The same with the credentials of its configuration, for which the plugin of the user is run. A supervisor does
    /// this by itself.
    ///
    /// # Errors
    /// When the credentials cannot be read or used. The text quotes no credentials and no output of a plugin.
    pub async fn login(self) -> anyhow::Result<Self> {
        match self.0 {
            Kind::Config(config) => {
                Self::reading(move || of_config((*config).clone()).map_err(anyhow::Error::msg))
                    .await
            }
            kind @ (Kind::Client(_) | Kind::Source(_)) => Ok(Self(kind)),
        }
    }

    /// A connection whose configuration is read in this way now, and later again.
    pub(super) async fn reading(
        read: impl Fn() -> anyhow::Result<Login> + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        let (files, plugin) = (Arc::new(read), Arc::new(Plugin::default()));
        let of_reader = plugin.clone();
        let read: Read = Arc::new(move |cause| {
            let (files, plugin) = (files.clone(), of_reader.clone());
            Box::pin(async move { load(move || files(), &plugin, cause).await })
        });
        let loaded = read(Cause::Start).await?;
        let state = CredentialState::default();
        Ok(Self(Kind::Source(Box::new(Source { read, loaded, state, plugin }))))
    }

    /// Whether the API server accepts the credentials, as far as this connection knows.
    pub(super) fn credentials(&self) -> CredentialState {
        match &self.0 {
            Kind::Client(_) | Kind::Config(_) => CredentialState::default(),
            Kind::Source(source) => source.state.clone(),
        }
    }

    /// The life of its credential plugin.
    pub(super) fn plugin(&self) -> Option<PluginLife> {
        match &self.0 {
            Kind::Client(_) | Kind::Config(_) => None,
            Kind::Source(source) => Some(PluginLife(source.plugin.clone())),
        }
    }

    /// How far a fence reaches.
    pub(super) fn fence_reach(&self) -> FenceReach {
        let config = match &self.0 {
            Kind::Client(_) => return FenceReach::Requests,
            Kind::Config(config) => config,
            Kind::Source(source) => &source.loaded.config,
        };
        if config.proxy_url.is_some() { FenceReach::Proxy } else { FenceReach::Server }
    }

    pub(super) fn clients(&self) -> Result<Clients, RunError> {
        let client = self.client()?;
        let watcher = match &self.0 {
            Kind::Client(_) => None,
            Kind::Config(_) | Kind::Source(_) => Some(self.client()?),
        };
        Ok(Clients { client, watcher })
    }

    /// A client on the calling runtime. It does not retry, because the schedule of a parent does. After
    /// [`login`](Self::login) it runs no plugin for it.
    ///
    /// # Errors
    /// When the credentials cannot be used.
    pub fn client(&self) -> Result<Client, RunError> {
        match &self.0 {
            Kind::Client(client) => Ok(client.clone()),
            Kind::Config(config) => client(config).map_err(connect),
            Kind::Source(source) => {
                let Source { read, loaded, state, plugin: _ } = &**source;
                reloading(read, loaded, Box::new(client), state.clone()).map_err(connect)
            }
        }
    }

    /// A client for writes that are checked against the fence at the socket, if that is possible.
    pub(super) fn fenced(&self, fence: &Fence) -> Result<Option<Client>, RunError> {
        match &self.0 {
            Kind::Client(_) => Ok(None),
            Kind::Config(config) => fenced(config, fence).map(Some).map_err(connect),
            Kind::Source(source) => {
                let Source { read, loaded, state, plugin: _ } = &**source;
                let fence = fence.clone();
                let build = Box::new(move |config: &Config| fenced(config, &fence));
                reloading(read, loaded, build, state.clone()).map(Some).map_err(connect)
            }
        }
    }
}

async fn load(
    read: impl FnOnce() -> anyhow::Result<Login> + Send + 'static,
    plugin: &Plugin,
    cause: Cause,
) -> anyhow::Result<Loaded> {
    // Files may be on a file system that hangs.
    let Login { mut config, user } = spawn_blocking(read).await??;
    let logged_in = plugin.log_in(config.auth_info, cause == Cause::Refused).await;
    let expires;
    (config.auth_info, expires) = logged_in.map_err(|why| anyhow::anyhow!("{user}: {why}"))?;
    Ok(Loaded { config, expires, user })
}

fn connect(error: kube::Error) -> RunError {
    RunError::Connect(anyhow::Error::from_boxed(described(error)))
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Client(_) => "Client",
            Self::Config(_) => "Config",
            Self::Source(_) => "Source",
        })
    }
}
