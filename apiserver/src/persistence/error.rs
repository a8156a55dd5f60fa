//! Why a data directory cannot be used.

use std::{
    io,
    path::{Path, PathBuf},
};

/// The data directory of a server cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirectoryError {
    /// Another process has it.
    #[error(
        "the data directory {} is in use by another process: stop that process, or name another directory",
        path.display()
    )]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// A newer version of this program has written it.
    #[error(
        "the data directory {} has format {found}, and this version reads formats up to {known}: \
         use the newer version, or name another directory",
        path.display()
    )]
    Newer {
        /// The directory.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The newest known format.
        known: u64,
    },
    /// Something else is there.
    #[error("{} has files in it but is not a data directory: name an empty or a new one", path.display())]
    Foreign {
        /// The directory.
        path: PathBuf,
    },
    /// A file is damaged.
    #[error(
        "{} is damaged ({why}): restore the data directory from a copy, or remove it to start empty",
        path.display()
    )]
    Damaged {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The operating system refuses.
    #[error("cannot use {}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl DataDirectoryError {
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    pub(super) fn damaged(path: &Path, why: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), why: why.into() }
    }
}
