//! The errors of building, starting and using a control plane.

use std::path::Path;
use std::time::Duration;

use crate::Version;

/// Why there is no control plane, or why a request to it failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There are no programs, or no toolchain to build them: a test may be ignored.
    #[error("no control plane on this machine: {reason}")]
    Unavailable {
        /// What is missing.
        reason: String,
    },
    /// The Go toolchain failed to build the programs.
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
        /// Its exit status.
        status: std::process::ExitStatus,
        /// The last lines of its log.
        log: String,
    },
    /// The API server runs, but was not ready in time.
    #[error(
        "kube-apiserver is not ready after {waited:?} ({last}); the last lines of its log:\n{log}"
    )]
    NotReady {
        /// How long the test waited.
        waited: Duration,
        /// The last answer.
        last: String,
        /// The last lines of its log.
        log: String,
    },
    /// No test user has this name.
    #[error("this control plane was started without a user {0:?}")]
    UnknownUser(String),
    /// The audit log is switched off.
    #[error("this control plane was started without an audit log")]
    NoAuditLog,
    /// A line of the audit log is not an audit event.
    #[error("a line of the audit log cannot be read: {0}")]
    AuditLog(#[source] serde_json::Error),
    /// Requests that were received before the log was read have no answer in it.
    #[error("after {waited:?} the audit log has no answer to: {}", requests.join(", "))]
    Unanswered {
        /// How long the reader waited.
        waited: Duration,
        /// Verb and path of each.
        requests: Vec<String>,
    },
    /// The response of etcd has no revision.
    #[error("the response of etcd has no revision: {0}")]
    Etcd(String),
    /// A certificate could not be made.
    #[error("cannot create a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The operating system provides no random numbers.
    #[error("cannot create a token: {0}")]
    Random(#[from] getrandom::Error),
    /// A request to the control plane failed.
    #[error("a request to the control plane failed: {0}")]
    Request(#[from] Box<kube::Error>),
    /// No kubeconfig is named.
    #[error("KUBECONFIG is not set: set it to the kubeconfig of the cluster to test on")]
    NoKubeconfig,
    /// The kubeconfig cannot be read, or has no such context.
    #[error("the kubeconfig cannot be used: {0}")]
    Kubeconfig(#[from] Box<kube::config::KubeconfigError>),
    /// A definition that a test installs already exists.
    #[error(
        "the cluster has the resource definition {definition} already; a test would touch its objects"
    )]
    InUse {
        /// The definition.
        definition: String,
    },
    /// An object of a test on an existing cluster is not removed.
    #[error("{name} was deleted and is still there after {waited:?}")]
    Lingers {
        /// Its name.
        name: String,
        /// How long the test waited.
        waited: Duration,
    },
    /// A file or a process could not be made or used.
    #[error("{what}: {source}")]
    Io {
        /// The operation.
        what: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

impl Error {
    pub(crate) fn unavailable(reason: impl Into<String>) -> Self {
        Self::Unavailable { reason: reason.into() }
    }

    pub(crate) fn not_built(version: Version) -> Self {
        let of = if version == Version::REFERENCE { "" } else { version.minor() };
        Self::unavailable(format!(
            "{version} is not built; `{}` builds it, with Go, in minutes",
            format!("cargo run --bin operetta-controlplane -- build {of}").trim_end()
        ))
    }

    /// For `map_err`: names the operation and the file.
    pub(crate) fn io(verb: &str, path: &Path) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let what = format!("{verb} {}", path.display());
        move |source| Self::Io { what, source }
    }

    /// Another process took the port before it was bound: another attempt with other ports may succeed.
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
