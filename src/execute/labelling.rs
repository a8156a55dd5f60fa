//! Which parents are reconciled so that their children get the label of their bucket.

use std::{
    collections::HashSet,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::object::Uid;

/// The parents whose children are labelled now.
#[derive(Debug, Default)]
pub(crate) struct Labelling {
    /// Whether some children of the operator may have no label.
    is_needed: AtomicBool,
    due: Mutex<HashSet<Uid>>,
}

impl Labelling {
    pub(crate) fn is_needed(&self) -> bool {
        self.is_needed.load(Ordering::Relaxed)
    }

    pub(crate) fn set_needed(&self, is_needed: bool) {
        self.is_needed.store(is_needed, Ordering::Relaxed);
        if !is_needed {
            self.due().clear();
        }
    }

    /// The next reconciles of the parent label its children, until one succeeds.
    pub(crate) fn begin(&self, parent: &Uid) {
        self.due().insert(parent.clone());
    }

    pub(super) fn is_due(&self, parent: &Uid) -> bool {
        self.is_needed() && self.due().contains(parent)
    }

    /// A reconcile of the parent has succeeded. One that failed is repeated with its backoff, and labels then.
    pub(super) fn succeeded(&self, parent: &Uid) {
        if self.is_needed() {
            self.due().remove(parent);
        }
    }

    fn due(&self) -> MutexGuard<'_, HashSet<Uid>> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
