//! The error of a supervisor that could not run.

use std::{io, net::SocketAddr};

use crate::{
    admission::WebhooksError,
    election::{ElectionError, ShardingError},
    manifests::ManifestError,
    operator::ConfigError,
    reply::causes,
    web::{BindError, TlsError},
};

/// Why a supervisor could not run. Its text contains the cause, which is therefore not the
/// [`source`](std::error::Error::source), so that it is printed once.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// No operator was registered.
    #[error("no operator is registered: call `register` at least once")]
    NoOperators,
    /// An operator's configuration cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A CRD that is to be installed cannot be made.
    #[error("{}", causes(.0))]
    Crd(#[from] ManifestError),
    /// The parents of an operator that is not registered are to be reconciled.
    #[error(
        "`reconcile_on` names the operator `{0}`, which is not registered: register it, or call \
         `expect_registrations` if it comes later"
    )]
    ExternalOperator(String),
    /// The settings of the group that shares the parents cannot work.
    #[error(transparent)]
    Sharding(#[from] ShardingError),
    /// The settings of the leader election cannot work.
    #[error(transparent)]
    Election(#[from] ElectionError),
    /// A webhook, or the versions of a type, cannot work.
    #[error(transparent)]
    Webhooks(#[from] WebhooksError),
    /// Webhooks are registered, and not served.
    #[error(
        "webhooks are registered and not served: call `webhooks` with an address, such as `0.0.0.0:9443`"
    )]
    WebhooksWithoutAddress,
    /// The port of webhooks would answer nothing.
    #[error(
        "it is said where webhooks are called, and none is registered: call `webhook` or `versions`, or leave that out"
    )]
    NoWebhooks,
    /// The API server calls webhooks over TLS only.
    #[error(
        "webhooks need a certificate: call `webhook_tls`; with the feature `certificates` one is made in a cluster, where \
         `webhook_service` names the Service, and where `webhook_url` names the address of this process"
    )]
    WebhooksWithoutTls,
    /// The address at which the API server is to call webhooks has no host.
    #[error("`webhook_url`: {0:?} is no address: write one such as `https://host:9443`")]
    WebhookUrl(String),
    /// There is no certificate for the webhooks.
    #[error("the webhooks cannot be served: {0}")]
    WebhookCertificate(String),
    /// The program was built with `panic = "abort"`.
    #[error(
        "the program was built with panic = \"abort\", so that a panic of one handler would end all \
         operators: build it with panic = \"unwind\""
    )]
    PanicAborts,
    /// A function that blocks was called on a thread of a tokio runtime.
    #[error(
        "`run_blocking` and `run_operator` block, and were called within a tokio runtime: write \
         `Supervisor::builder() ... .run().await` instead"
    )]
    WithinRuntime,
    /// The web endpoint cannot listen.
    #[error(transparent)]
    Web(#[from] BindError),
    /// The certificate of the web endpoint cannot be used.
    #[error("cannot serve the web endpoint over TLS: {0}")]
    Tls(TlsError),
    /// The web endpoint would be open to other machines.
    #[error(
        "the web endpoint on {0} can be reached from other machines: set both `auth` and `tls`, or \
         `allow_insecure_listen`"
    )]
    Exposed(SocketAddr),
    /// The client of the API server could not be created.
    #[error("cannot connect to a Kubernetes API server: {}", causes(.0.as_ref()))]
    Connect(anyhow::Error),
    /// A CRD could not be installed.
    #[error("{}", causes(.0.as_ref()))]
    Install(anyhow::Error),
    /// The operating system refused threads, signals or sockets.
    #[error("cannot start: {0}")]
    System(io::Error),
    /// Another signal arrived before the operators had ended.
    #[error("another signal arrived before the operators had ended: what still runs is abandoned")]
    Abandoned,
    /// The thread of the actors ended unexpectedly.
    #[error("the supervisor's thread ended unexpectedly; this is a bug in Operetta")]
    Died,
}

// By hand, because `#[from]` would make it the source.

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
    fn the_text_contains_the_cause_which_is_not_the_source() {
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
