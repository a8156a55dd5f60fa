//! The API server that a program brings along, for its development.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use operetta_apiserver::{DataDirectoryError, ServeError, Server, WorkloadTiming};

use super::{Connection, announcement::Development};

/// A Kubernetes API server in the process, with a kubeconfig for kubectl. It runs no containers: for development and
/// demonstrations.
///
/// By default it listens on a free port of 127.0.0.1, writes its kubeconfig to `target/operetta/kubeconfig`, simulates
/// workloads, and keeps nothing when the process ends.
///
/// ```no_run
/// # use operetta::prelude::*;
/// # fn config() -> OperatorConfig { unimplemented!() }
/// # fn sync(_: &SyncRequest) -> Result<SyncResponse> { Ok(SyncResponse::new()) }
/// Supervisor::builder()
///     .connect_to(Connect::embedded())
///     .register(config(), sync)
///     .serve("127.0.0.1:8080")
///     .run_blocking()?;
/// # Ok::<(), operetta::anyhow::Error>(())
/// ```
///
/// A supervisor [installs the CRDs](super::SupervisorBuilder::install_crds) that its operators bring along, and
/// [prints](super::SupervisorBuilder::announce) how to reach the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embedded {
    listen: SocketAddr,
    kubeconfig: Option<PathBuf>,
    data: Option<PathBuf>,
    are_workloads_simulated: bool,
    suggested: Vec<String>,
}

/// The embedded API server could not start.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// See [`Embedded::data`].
    #[error("the embedded API server cannot keep its objects")]
    Data(#[source] DataDirectoryError),
    /// See [`Embedded::listen`].
    #[error("the embedded API server cannot listen")]
    Listen(#[source] ServeError),
    /// See [`Embedded::kubeconfig`].
    #[error("the kubeconfig of the embedded API server cannot be written")]
    Kubeconfig(#[source] ServeError),
}

impl Default for Embedded {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            kubeconfig: None,
            data: None,
            are_workloads_simulated: true,
            suggested: Vec::new(),
        }
    }
}

impl Embedded {
    /// Sets where it listens, over TLS. Default is a free port of 127.0.0.1.
    #[must_use]
    pub fn listen(self, address: SocketAddr) -> Self {
        Self { listen: address, ..self }
    }

    /// Sets the file for its kubeconfig, which only its owner can read. Default is `kubeconfig` in the directory of
    /// [`data`](Self::data), or `target/operetta/kubeconfig`.
    #[must_use]
    pub fn kubeconfig(self, file: impl Into<PathBuf>) -> Self {
        Self { kubeconfig: Some(file.into()), ..self }
    }

    /// Sets a directory that keeps its objects and credentials over a restart. It is created if it does not exist.
    #[must_use]
    pub fn data(self, directory: impl Into<PathBuf>) -> Self {
        Self { data: Some(directory.into()), ..self }
    }

    /// Leaves Deployments, their Pods and the like as they are, instead of giving them the status of workloads that run.
    #[must_use]
    pub fn without_workloads(self) -> Self {
        Self { are_workloads_simulated: false, ..self }
    }

    /// Sets commands for a first try, which are printed when the operators run.
    #[must_use]
    pub fn suggest<C: Into<String>>(self, commands: impl IntoIterator<Item = C>) -> Self {
        Self { suggested: commands.into_iter().map(Into::into).collect(), ..self }
    }

    /// It lives as long as the runtime that this is called on.
    pub(super) fn connection(&self) -> Result<Connection, EmbeddedError> {
        let builder = Server::builder();
        let builder = if self.are_workloads_simulated {
            builder.simulate_workloads(WorkloadTiming::default())
        } else {
            builder
        };
        let server = match &self.data {
            Some(directory) => builder.start_in(directory).map_err(EmbeddedError::Data)?,
            None => builder.start(),
        };
        let running = server.serve(self.listen).map_err(EmbeddedError::Listen)?;
        running.write_kubeconfig(&self.file()).map_err(EmbeddedError::Kubeconfig)?;
        Ok(server.client().into())
    }

    fn file(&self) -> PathBuf {
        let default = || match &self.data {
            Some(directory) => directory.join("kubeconfig"),
            None => Path::new("target/operetta/kubeconfig").to_owned(),
        };
        self.kubeconfig.clone().unwrap_or_else(default)
    }

    pub(super) fn development(&self) -> Development {
        let file = self.file();
        Development {
            kubeconfig: std::path::absolute(&file).unwrap_or(file),
            data: self.data.clone(),
            suggested: self.suggested.clone(),
        }
    }
}
