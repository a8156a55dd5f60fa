//! What a supervisor talks to the API server with.

use kube::{Client, Config};

use super::RunError;
use crate::{cluster::fenced, election::Fence};

/// A connection to the API server: a client, or the configuration of one.
///
/// With a configuration the supervisor can make clients of its own. A [leader election](crate::election) needs
/// that to reset connections.
#[derive(Debug)]
pub struct Connection(Kind);

enum Kind {
    Client(Client),
    Config(Box<Config>),
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
    pub(super) fn client(&self) -> Result<Client, RunError> {
        match &self.0 {
            Kind::Client(client) => Ok(client.clone()),
            Kind::Config(config) => Client::try_from((**config).clone()).map_err(connect),
        }
    }

    /// A client for writes that are checked against the fence at the socket, if that is possible.
    pub(super) fn fenced(&self, fence: &Fence) -> Result<Option<Client>, RunError> {
        match &self.0 {
            Kind::Client(_) => Ok(None),
            Kind::Config(config) => fenced(config, fence).map_err(connect),
        }
    }
}

fn connect(error: kube::Error) -> RunError {
    RunError::Connect(error.into())
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Client(_) => "Client",
            Self::Config(_) => "Config",
        })
    }
}
