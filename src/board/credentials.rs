//! Whether the API server accepts the credentials of the process.

use std::sync::{Arc, Mutex, PoisonError};

/// What is wrong with the credentials of the process. Cheap to clone; all clones are one.
#[derive(Debug, Clone, Default)]
pub(crate) struct CredentialState(Arc<Mutex<Option<String>>>);

impl CredentialState {
    pub(crate) fn problem(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, problem: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }
}
