//! Persistence: a data directory that holds the objects, the newest revisions and the credentials of a server.
//!
//! ```text
//!  commit ─> log (memory) ── changes ──> writer (thread): one transaction, one fsync per batch
//!                ▲                          │
//!                └─ mark_durable: watches ──┴─ progress: answers of requests wait for it
//! ```
//!
//! **Invariants.** No answer and no watch shows a change before it is durable, so that a crash takes back
//! nothing that anyone has seen. What is durable is a prefix of the log: its state at a version, and every
//! revision after it. Revisions that are older than that are compacted by a restart.
//! After a failed write every request is refused: memory is ahead of the disk.

mod directory;
mod error;
mod progress;
mod record;
mod store;
mod tables;
mod writer;

use std::{path::Path, sync::Arc, thread::JoinHandle};

pub(crate) use self::directory::Directory;
pub use self::error::DataDirectoryError;
use self::{progress::Progress, store::Store};
use crate::log::{Log, Persisted};

/// The persistence of one server. It writes what is left when it is dropped.
#[derive(Debug)]
pub(crate) struct Persistence {
    directory: Directory,
    progress: Progress,
    writer: Option<JoinHandle<()>>,
}

/// A data directory that is locked, and from which nothing is read yet.
#[derive(Debug)]
pub(crate) struct Opened {
    directory: Directory,
    store: Store,
}

impl Opened {
    /// Opens a data directory, or creates it. No other process can open it from now on.
    pub(crate) fn open(path: &Path) -> Result<Self, DataDirectoryError> {
        let (directory, is_new) = Directory::open(path)?;
        let store = Store::open(directory.path(), is_new)?;
        if is_new {
            directory.finish()?;
        }
        Ok(Self { directory, store })
    }

    /// Where files of the server are.
    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Reads what was persisted.
    pub(crate) fn read(&mut self) -> Result<Persisted, DataDirectoryError> {
        self.store.read()
    }

    /// Persists the changes of a log from now on, with at least so many of its newest revisions.
    pub(crate) fn persist(
        self,
        log: &Arc<Log>,
        history: usize,
    ) -> Result<Persistence, DataDirectoryError> {
        let Self { directory, store } = self;
        let progress = Progress::default();
        let writer = writer::start(store, log, progress.clone(), history)
            .map_err(|source| DataDirectoryError::io(directory.path(), source))?;
        Ok(Persistence { directory, progress, writer: Some(writer) })
    }
}

impl Persistence {
    /// Waits until this many changes are durable; an error says why they cannot be.
    pub(crate) async fn durable(&self, changes: u64) -> Result<(), Arc<str>> {
        self.progress.reached(changes).await
    }

    /// Writes what is left and gives the directory free.
    pub(crate) async fn close(&self, log: &Log) {
        log.end_changes();
        self.progress.ended().await;
    }

    /// Waits until a write fails.
    pub(crate) async fn failure(&self) -> String {
        let why = self.progress.failure().await;
        format!("the data directory {} cannot be written: {why}", self.directory.path().display())
    }

    /// Where files of the server are.
    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }
}

impl Drop for Persistence {
    fn drop(&mut self) {
        // The log is gone, so that the writer ends after the last change.
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}
