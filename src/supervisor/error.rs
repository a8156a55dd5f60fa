//! Why a supervisor could not run.

use crate::{operator::ConfigError, web::BindError};

/// Why a supervisor could not run.
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
    /// The web endpoint cannot listen.
    #[error(transparent)]
    Web(#[from] BindError),
    /// The connection to the API server could not be made.
    #[error("cannot connect to a Kubernetes API server: {0:#}")]
    Connect(anyhow::Error),
    /// The operating system refused threads, signals or sockets.
    #[error("cannot start: {0}")]
    System(#[from] std::io::Error),
    /// The thread of the actors ended before it had started.
    #[error("the supervisor's thread ended unexpectedly; this is a bug")]
    Died,
}
