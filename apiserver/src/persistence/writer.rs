//! The thread that writes: whatever waits is one transaction, so that concurrent requests share an fsync.

use std::{
    collections::HashSet,
    io,
    sync::{Arc, Weak},
    thread,
};

use tokio::sync::mpsc::UnboundedReceiver;

use super::{progress::Progress, store::Store};
use crate::log::{Change, Log};

/// How many changes are written at once.
const BATCH: usize = 1024;

/// Starts the thread. It ends after the last change when the log is dropped, or at a failure.
pub(super) fn start(
    store: Store,
    log: &Arc<Log>,
    progress: Progress,
    history: usize,
) -> io::Result<thread::JoinHandle<()>> {
    let changes = log.changes();
    // The log must end with the server, not with this thread.
    let log = Arc::downgrade(log);
    let writer = Writer { store, log, progress, history: history as u64, count: 0 };
    thread::Builder::new().name("persistence".to_owned()).spawn(move || writer.run(changes))
}

struct Writer {
    store: Store,
    log: Weak<Log>,
    progress: Progress,
    history: u64,
    count: u64,
}

impl Writer {
    fn run(mut self, mut changes: UnboundedReceiver<Change>) {
        let mut batch = Vec::new();
        while changes.blocking_recv_many(&mut batch, BATCH) > 0 {
            if let Err(error) = self.store.write(&batch, self.history) {
                tracing::error!(error = error.to_string(), "the data directory cannot be written");
                self.progress.fail(&error.to_string());
                return;
            }
            self.count += batch.len() as u64;
            self.show(&batch);
            self.progress.advance(self.count);
            batch.clear();
        }
        // Whoever waits for this opens the data directory again.
        drop(self.store);
        self.progress.close();
    }

    /// Lets watches see what is durable now.
    fn show(&self, batch: &[Change]) {
        let Some(log) = self.log.upgrade() else { return };
        let mut resources = HashSet::new();
        let mut durable = None;
        for change in batch {
            match change {
                Change::Committed(committed) => {
                    resources.insert(Arc::clone(&committed.resource));
                    durable = Some(committed.revision.version);
                }
                Change::Restored(backup) => durable = Some(backup.head),
                Change::Compacted(_) => {}
            }
        }
        if let Some(version) = durable {
            log.mark_durable(version, &resources);
        }
    }
}
