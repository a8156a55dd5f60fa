//! The backoff of each parent, for handlers that answer their own errors.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::BackoffConfig;
use crate::handler::SyncRequest;

/// How often each parent has failed, for a handler that answers its own errors.
/// [`DefaultFailableHandler`](super::DefaultFailableHandler) needs none.
///
/// ```
/// use roperator::handler::failable::ErrorBackoff;
/// use roperator::prelude::*;
/// use roperator::serde_json::json;
///
/// struct Recovering(ErrorBackoff);
///
/// impl Handler for Recovering {
///     fn sync(&self, request: &SyncRequest) -> Result<SyncResponse, Error> {
///         let status = json!({"error": "the oven is cold"});
///         let resync = self.0.next_error_backoff(request);
///         Ok(SyncResponse { status, children: Vec::new(), resync })
///     }
/// }
/// ```
#[derive(Debug, Default)]
pub struct ErrorBackoff {
    config: BackoffConfig,
    failures: Arc<Mutex<HashMap<String, Failures>>>,
}

#[derive(Debug)]
struct Failures {
    count: u32,
    last: Instant,
}

impl ErrorBackoff {
    /// No failures yet.
    pub fn new(backoff_config: BackoffConfig) -> Self {
        Self { config: backoff_config, failures: Arc::default() }
    }

    /// The delay after one more failure of the parent; `None` to give up.
    pub fn next_error_backoff(&self, req: &SyncRequest) -> Option<Duration> {
        self.next(req.parent.uid(), Instant::now())
    }

    /// Forgets the failures of the parent, after a success.
    pub fn reset_backoff(&self, req: &SyncRequest) {
        self.all().remove(req.parent.uid());
    }

    fn next(&self, uid: &str, now: Instant) -> Option<Duration> {
        let mut all = self.all();
        // Parents that were deleted while they failed.
        let kept = self.config.max_interval.saturating_mul(2);
        all.retain(|_, failures| now.duration_since(failures.last) <= kept);
        let failures = all.entry(uid.to_owned()).or_insert(Failures { count: 0, last: now });
        let delay = self.config.next(failures.count, uid);
        *failures = Failures { count: failures.count.saturating_add(1), last: now };
        delay
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Failures>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handler::test_request as request;

    #[test]
    fn delays_grow_until_a_success() {
        let backoff = ErrorBackoff::new(BackoffConfig::default().disable_randomization());
        let next = || backoff.next_error_backoff(&request()).unwrap();
        let (first, second) = (next(), next());
        assert_eq!(first, Duration::from_millis(500));
        assert!(second > first);
        backoff.reset_backoff(&request());
        assert_eq!(backoff.next_error_backoff(&request()), Some(first));
    }

    #[test]
    fn a_parent_that_fails_no_more_is_forgotten() {
        let (backoff, start) = (ErrorBackoff::default(), Instant::now());
        backoff.next("a", start);
        backoff.next("b", start + Duration::from_mins(20));
        assert_eq!(backoff.all().len(), 2);
        backoff.next("b", start + Duration::from_mins(21));
        assert_eq!(backoff.all().keys().collect::<Vec<_>>(), ["b"]);
    }
}
