//! The revisions of the caches of a process: each change has the next number, so that several stores can be read as
//! they were at one moment.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts the changes of the stores that share it. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Revisions(Arc<Mutex<Numbers>>);

#[derive(Debug, Default)]
struct Numbers {
    last: u64,
    /// The revisions that are read, in ascending order.
    pinned: Vec<u64>,
}

/// A revision that is read: what is changed later is kept as it was, until this is dropped.
#[derive(Debug)]
pub(super) struct Pin {
    pub(super) revision: u64,
    of: Revisions,
}

/// The revision of a change, and the oldest pinned revision.
#[derive(Debug, Clone, Copy)]
pub(super) struct Advanced {
    pub(super) revision: u64,
    pub(super) oldest_pinned: Option<u64>,
}

impl Revisions {
    /// Pins the last revision.
    pub(super) fn pin(&self) -> Pin {
        let mut state = self.state();
        let revision = state.last;
        state.pinned.push(revision);
        Pin { revision, of: self.clone() }
    }

    /// To be called before a store is changed, while it is locked.
    pub(super) fn advance(&self) -> Advanced {
        let mut state = self.state();
        state.last += 1;
        Advanced { revision: state.last, oldest_pinned: state.pinned.first().copied() }
    }

    fn state(&self) -> MutexGuard<'_, Numbers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut state = self.of.state();
        if let Some(at) = state.pinned.iter().position(|pinned| *pinned == self.revision) {
            state.pinned.remove(at);
        }
    }
}
