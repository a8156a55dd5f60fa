//! What a supervisor talks to the API server with.

use kube::{Client, Config};

use super::RunError;
use crate::{
    board::CredentialState,
    cluster::{Loaded, Read, client, described, fenced, reloading},
    election::Fence,
};

/// A connection to the API server: a client, the configuration of one, or where the configuration is.
///
/// With a configuration the supervisor can make clients of its own. A [leader election](crate::election) needs
/// that to reset connections, and watches have connections of their own then. With [`Connect::connection`](super::Connect::connection) it also uses credentials that are replaced on disk.
#[derive(Debug)]
pub struct Connection(Kind);

enum Kind {
    Client(Client),
    Config(Box<Config>),
    /// One that can be read again.
    Source(Read, Box<Loaded>, CredentialState),
}

/// The clients that are not fenced.
pub(super) struct Clients {
    pub(super) client: Client,
    /// For watches alone, where a second one can be made.
    pub(super) watcher: Option<Client>,
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
    /// A connection whose configuration was read in this way, and is read again.
    pub(super) fn of(read: Read, loaded: Loaded) -> Self {
        Self(Kind::Source(read, Box::new(loaded), CredentialState::default()))
    }

    /// Whether the API server accepts the credentials, as far as this connection knows.
    pub(super) fn credentials(&self) -> CredentialState {
        match &self.0 {
            Kind::Client(_) | Kind::Config(_) => CredentialState::default(),
            Kind::Source(_, _, state) => state.clone(),
        }
    }

    pub(super) fn clients(&self) -> Result<Clients, RunError> {
        let client = self.client()?;
        let watcher = match &self.0 {
            Kind::Client(_) => None,
            Kind::Config(_) | Kind::Source(..) => Some(self.client()?),
        };
        Ok(Clients { client, watcher })
    }

    pub(super) fn client(&self) -> Result<Client, RunError> {
        match &self.0 {
            Kind::Client(client) => Ok(client.clone()),
            Kind::Config(config) => client(config).map_err(connect),
            Kind::Source(read, loaded, state) => {
                reloading(read, loaded, Box::new(client), state.clone()).map_err(connect)
            }
        }
    }

    /// A client for writes that are checked against the fence at the socket, if that is possible.
    pub(super) fn fenced(&self, fence: &Fence) -> Result<Option<Client>, RunError> {
        match &self.0 {
            Kind::Client(_) => Ok(None),
            Kind::Config(config) => fenced(config, fence).map(Some).map_err(connect),
            Kind::Source(read, loaded, state) => {
                let fence = fence.clone();
                let build = Box::new(move |config: &Config| fenced(config, &fence));
                reloading(read, loaded, build, state.clone()).map(Some).map_err(connect)
            }
        }
    }
}

fn connect(error: kube::Error) -> RunError {
    RunError::Connect(anyhow::Error::from_boxed(described(error)))
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Client(_) => "Client",
            Self::Config(_) => "Config",
            Self::Source(..) => "Source",
        })
    }
}
