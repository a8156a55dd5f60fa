//! Why a supervisor could not run.

use std::net::SocketAddr;

use crate::{
    operator::ConfigError,
    web::{BindError, TlsError},
};

/// Why a supervisor could not run. Its text leaves the causes to [`source`](std::error::Error::source),
/// so that `main` of an `anyhow::Result` says each once; where it tells one, that is no source.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// No operator was registered.
    #[error("no operator is registered: call `register` at least once")]
    NoOperators,
    /// An operator's configuration cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The program was built so that one handler's panic would end all operators.
    #[error("built with panic = \"abort\", which would let one handler end all operators")]
    PanicAborts,
    /// It was called where nothing may block.
    #[error(
        "it blocks, and cannot within a tokio runtime: call it from a plain `fn main` without \
         `#[tokio::main]`, or within `tokio::task::spawn_blocking`"
    )]
    WithinRuntime,
    /// The web endpoint cannot listen.
    #[error(transparent)]
    Web(#[from] BindError),
    /// The certificate of the web endpoint cannot be used.
    #[error("cannot serve the web endpoint over TLS")]
    Tls(#[from] TlsError),
    /// The web endpoint would be open to others.
    #[error(
        "the web endpoint on {0} can be reached from other machines: it needs both `auth` and \
         `tls`, or `allow_insecure_listen`"
    )]
    Exposed(SocketAddr),
    /// The connection to the API server could not be made.
    #[error("cannot connect to a Kubernetes API server: {0:#}")]
    Connect(anyhow::Error),
    /// The operating system refused threads, signals or sockets.
    #[error("cannot start")]
    System(#[from] std::io::Error),
    /// The thread of the actors ended before it had started.
    #[error("the supervisor's thread ended unexpectedly; this is a bug")]
    Died,
}
