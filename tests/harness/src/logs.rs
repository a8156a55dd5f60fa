//! One test at a time where logs are read.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// No other test that asks for it runs while this lives.
#[derive(Debug)]
pub struct LogsAlone {
    _guard: MutexGuard<'static, ()>,
}

/// Waits for the other tests that read logs or change filters. `tracing` caches for the whole process what is enabled: a
/// filter that changes on a thread without a subscriber would disable the lines of another test.
#[must_use]
pub fn logs_alone() -> LogsAlone {
    static CACHE: Mutex<()> = Mutex::new(());
    LogsAlone { _guard: CACHE.lock().unwrap_or_else(PoisonError::into_inner) }
}
