//! What can go wrong while a control plane is built, started or asked. It does not decide whether a test is ignored.

use std::path::Path;
use std::time::Duration;

/// Why there is no control plane, or why it did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There are no built programs and nothing to build them with: a test may be ignored.
    #[error("no control plane on this machine: {reason}")]
    Unavailable {
        /// What is missing.
        reason: String,
    },
    /// The Go toolchain refused to build the programs.
    #[error("building the control plane failed:\n{output}")]
    Build {
        /// The last lines that `go build` wrote.
        output: String,
    },
    /// One of the programs ended by itself.
    #[error("{program} ended with {status}; the last lines of its log:\n{log}")]
    Exited {
        /// The program.
        program: &'static str,
        /// How it ended.
        status: std::process::ExitStatus,
        /// The last lines of its log.
        log: String,
    },
    /// The API server runs, but was not ready in time.
    #[error(
        "kube-apiserver is not ready after {waited:?} ({last}); the last lines of its log:\n{log}"
    )]
    NotReady {
        /// How long it was waited for.
        waited: Duration,
        /// The last answer.
        last: String,
        /// The last lines of its log.
        log: String,
    },
    /// No test user has this name.
    #[error("this control plane was started without a user {0:?}")]
    UnknownUser(String),
    /// The audit log was asked for, but switched off.
    #[error("this control plane was started without an audit log")]
    NoAuditLog,
    /// A line of the audit log is not an audit event.
    #[error("a line of the audit log cannot be read: {0}")]
    AuditLog(#[source] serde_json::Error),
    /// etcd did not answer as its HTTP gateway should.
    #[error("etcd answered without a revision: {0}")]
    Etcd(String),
    /// A certificate could not be made.
    #[error("making a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The operating system has no random numbers.
    #[error("making a token: {0}")]
    Random(#[from] getrandom::Error),
    /// A request to the control plane failed.
    #[error("asking the control plane: {0}")]
    Request(#[from] Box<kube::Error>),
    /// The cluster of a kubeconfig was asked for, and no kubeconfig was named.
    #[error("KUBECONFIG is not set: it names the cluster that the tests are to use")]
    NoKubeconfig,
    /// The kubeconfig cannot be read, or has no such context.
    #[error("the kubeconfig cannot be used: {0}")]
    Kubeconfig(#[from] Box<kube::config::KubeconfigError>),
    /// A test would install a definition that somebody has installed.
    #[error(
        "the cluster has the resource definition {definition} already; a test would touch its objects"
    )]
    InUse {
        /// The definition.
        definition: String,
    },
    /// What a test made on somebody's cluster does not go.
    #[error("{name} was deleted and is still there after {waited:?}")]
    Lingers {
        /// What it is called.
        name: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// A file or a process could not be made or used.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// The answer of the operating system.
        source: std::io::Error,
    },
}

impl Error {
    pub(crate) fn unavailable(reason: impl Into<String>) -> Self {
        Self::Unavailable { reason: reason.into() }
    }

    /// For `map_err`: says what was tried with which file.
    pub(crate) fn io(verb: &str, path: &Path) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let what = format!("{verb} {}", path.display());
        move |source| Self::Io { what, source }
    }

    /// Somebody else took the port between choosing and listening: worth another try with other ports.
    pub(crate) fn is_port_taken(&self) -> bool {
        matches!(self, Self::Exited { log, .. } if log.contains("address already in use"))
    }
}

impl From<kube::Error> for Error {
    fn from(error: kube::Error) -> Self {
        Self::Request(Box::new(error))
    }
}

impl From<kube::config::KubeconfigError> for Error {
    fn from(error: kube::config::KubeconfigError) -> Self {
        Self::Kubeconfig(Box::new(error))
    }
}
