//! Why a supervisor could not run.

use std::{io, net::SocketAddr};

use crate::{
    operator::ConfigError,
    web::{BindError, TlsError},
};

/// Why a supervisor could not run. Its text tells the cause, which is then no
/// [`source`](std::error::Error::source): so each is said once, by whoever prints it.
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
    #[error("cannot serve the web endpoint over TLS: {0}")]
    Tls(TlsError),
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
    #[error("cannot start: {0}")]
    System(io::Error),
    /// The thread of the actors ended before it had started.
    #[error("the supervisor's thread ended unexpectedly; this is a bug")]
    Died,
}

// By hand: what is `#[from]` is the source, too.

impl From<TlsError> for RunError {
    fn from(error: TlsError) -> Self {
        Self::Tls(error)
    }
}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

#[cfg(test)]
mod tests {
    use std::{error::Error, path::Path};

    use super::*;
    use crate::web::Tls;

    #[test]
    fn its_text_tells_the_cause_which_is_then_no_source() {
        let missing = Path::new(env!("CARGO_MANIFEST_DIR")).join("no-such-certificate.pem");
        let tls = RunError::from(Tls::from_files(&missing, &missing).load().unwrap_err());
        let mismatched = TlsError::Unusable(rustls::Error::InconsistentKeys(
            rustls::InconsistentKeys::KeyMismatch,
        ));
        let refused = io::Error::from(io::ErrorKind::PermissionDenied);
        for (error, expected) in [
            (tls, [missing.to_str().unwrap(), "No such file"]),
            (RunError::from(mismatched), ["cannot be used together: ", "KeyMismatch"]),
            (RunError::from(refused), ["cannot start: ", "permission denied"]),
        ] {
            let text = error.to_string();
            assert!(expected.iter().all(|words| text.contains(words)), "{text}");
            assert!(error.source().is_none(), "{text}");
        }
    }
}
