//! HTTPS on loopback, for kubectl and other processes: clients have a bearer token or a certificate.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
};

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{
    administrator,
    answer::Answering,
    kubeconfig::{self, Kubeconfig},
    last_port,
    listener::Listener,
};
use crate::{
    credentials::CredentialsError,
    persistence::{DataDirectoryError, Persistence},
    server::Server,
    users::User,
};

/// A server that listens.
pub struct Running {
    server: Server,
    address: SocketAddr,
    token: String,
    kubeconfig: Kubeconfig,
    text: String,
    stopping: CancellationToken,
    ended: JoinHandle<()>,
}

/// A server could not be made to listen.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Other machines could reach it.
    #[error("{0} is not a loopback address: the embedded API server is for this machine only")]
    NotLoopback(IpAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// Certificate or token.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// The data directory.
    #[error(transparent)]
    DataDirectory(#[from] DataDirectoryError),
    /// The kubeconfig file.
    #[error("cannot write the kubeconfig {path}: {source}")]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Server {
    /// Listens on a loopback address; call it within a tokio runtime. Port 0 chooses one; with a data directory
    /// the port of the last time, if it is free.
    pub fn serve(&self, address: SocketAddr) -> Result<Running, ServeError> {
        if !address.ip().is_loopback() {
            return Err(ServeError::NotLoopback(address.ip()));
        }
        let persistence = self.shared.persistence.as_ref();
        let directory = persistence.map(Persistence::directory);
        let credentials = self.shared.cluster.keychain.credentials()?;
        let address = last_port::prefer(address, directory);
        let listener = Listener::bind(address, credentials.tls.clone())
            .map_err(|source| ServeError::Listen { address, source })?;
        let address = listener.address();
        last_port::remember(address, directory)?;
        let stopping = CancellationToken::new();
        let ended = listener.serve(Answering::new(self.clone()), stopping.clone());
        // It ends with the runtime of the caller at the latest.
        let ended = tokio::spawn(ended);
        let token = credentials.token.clone();
        let user = administrator::user(&self.shared.cluster, &token, directory)?;
        let kubeconfig = Kubeconfig::new(address, &credentials.authority);
        let kubeconfig = kubeconfig.with(kubeconfig::NAME, user);
        self.shared.tokens.add(&token, User::admin());
        let text = kubeconfig.text();
        Ok(Running { server: self.clone(), address, token, kubeconfig, text, stopping, ended })
    }
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The kubeconfig, with the token of the administrator in it, and a certificate that is valid for a year.
    pub fn kubeconfig(&self) -> &str {
        &self.text
    }

    /// A kubeconfig for a user, with a certificate of theirs that is valid for a year: see
    /// [`Builder::rbac`](crate::Builder::rbac).
    ///
    /// ```
    /// # use operetta_apiserver::{Server, User};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let running = Server::builder().rbac().start().serve("127.0.0.1:0".parse()?)?;
    /// let kubeconfig = running.kubeconfig_of(&User::new("jane").group("developers"))?;
    /// assert!(kubeconfig.contains("client-certificate-data"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn kubeconfig_of(&self, user: &User) -> Result<String, ServeError> {
        let credentials = self.server.shared.cluster.keychain.credentials()?;
        let kubeconfig = Kubeconfig::new(self.address, &credentials.authority);
        Ok(kubeconfig
            .with(user.name(), administrator::certified(&self.server.shared.cluster, user)?)
            .text())
    }

    /// Adds a user to the [kubeconfig](Self::kubeconfig), with a certificate, and a context of the same name.
    pub fn add_user(&mut self, user: &User) -> Result<(), ServeError> {
        let certificate = administrator::certified(&self.server.shared.cluster, user)?;
        self.kubeconfig = self.kubeconfig.clone().with(user.name(), certificate);
        self.text = self.kubeconfig.text();
        Ok(())
    }

    /// Writes the kubeconfig to a file that only its owner may read.
    pub fn write_kubeconfig(&self, path: &Path) -> Result<(), ServeError> {
        kubeconfig::write(path, &self.text)
            .map_err(|source| ServeError::Kubeconfig { path: path.to_owned(), source })
    }

    /// Stops listening; open watches are closed, and the token becomes invalid.
    pub async fn stop(self) {
        self.server.shared.tokens.remove(&self.token);
        self.stopping.cancel();
        // It panics never, and nobody aborts it.
        let _ = self.ended.await;
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("address", &self.address).finish_non_exhaustive()
    }
}
