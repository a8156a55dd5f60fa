//! Why a kubeconfig cannot be used: the file, the entry and the problem. Never its content, which may be
//! secret.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

/// Why a kubeconfig cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KubeconfigError {
    #[error("the kubeconfig {} cannot be read: {why}", .file.display())]
    Unreadable { file: PathBuf, why: io::Error },
    #[error("the kubeconfig {}{}: {why}", .file.display(), at(*.line))]
    Malformed { file: PathBuf, line: Option<u64>, why: &'static str },
    #[error("there is no kubeconfig: {} not exist; set KUBECONFIG or name a file", these(.files))]
    Missing { files: Vec<PathBuf> },
    #[error("there is no kubeconfig: KUBECONFIG is not set, and this user has no home directory")]
    Homeless,
    #[error("`current-context` of {} is not set: name a context{}", list(.files), known(.contexts))]
    NoContext { files: Vec<PathBuf>, contexts: Vec<String> },
    #[error("there is no context {name:?} in {}{}", list(.files), known(.contexts))]
    UnknownContext { name: String, files: Vec<PathBuf>, contexts: Vec<String> },
    #[error("{entry}: {why}")]
    Wrong { entry: Entry, why: String },
}

/// An entry of a kubeconfig.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// The file that it is in, if it exists.
    pub(super) file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Context,
    Cluster,
    User,
}

impl Entry {
    /// What is wrong with it.
    pub(super) fn is_wrong(&self, why: impl Into<String>) -> KubeconfigError {
        KubeconfigError::Wrong { entry: self.clone(), why: why.into() }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Context => "context",
            Kind::Cluster => "cluster",
            Kind::User => "user",
        };
        write!(f, "{kind} {:?}", self.name)?;
        self.file.as_ref().map_or(Ok(()), |file| write!(f, " of the kubeconfig {}", file.display()))
    }
}

fn at(line: Option<u64>) -> String {
    line.map(|line| format!(", line {line}")).unwrap_or_default()
}

fn list(files: &[PathBuf]) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn these(files: &[PathBuf]) -> String {
    format!("{} {}", list(files), if files.len() == 1 { "does" } else { "do" })
}

fn known(contexts: &[String]) -> String {
    match contexts {
        [] => "; it has none".to_owned(),
        contexts => format!("; known are {}", contexts.join(", ")),
    }
}

/// What an I/O error is, with the file.
pub(super) fn unread(what: &str, file: impl AsRef<Path>, why: &io::Error) -> String {
    format!("{what} {} cannot be read: {why}", file.as_ref().display())
}
