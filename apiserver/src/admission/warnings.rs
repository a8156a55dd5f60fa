//! What a request is warned of: what was said once is not said again.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

/// The warnings of a request.
#[derive(Debug, Default)]
pub(super) struct Warnings(Mutex<Warned>);

#[derive(Debug, Default)]
struct Warned {
    all: BTreeSet<String>,
    untold: Vec<String>,
}

impl Warnings {
    /// Remembers a warning.
    pub(super) fn warn(&self, warning: &str) {
        let mut warned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.all.insert(warning.to_owned()) {
            warned.untold.push(warning.to_owned());
        }
    }

    /// The warnings since this was asked last.
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).untold)
    }
}
