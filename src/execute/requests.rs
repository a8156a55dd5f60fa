//! How many requests of reconciles are in flight in a process, whatever operator they are of.
//!
//! A request that is not answered within a second gives its permit up and continues: a type of which the
//! writes hang, as behind a webhook, keeps the others waiting for a moment only.

use std::{pin::pin, sync::Arc, time::Duration};

use tokio::sync::Semaphore;

/// So many requests are in flight at once. Beyond it a kube-apiserver on a few cores answers no faster.
const AT_ONCE: usize = 32;

/// Longer than an answer takes, also of a busy server.
const SHORT: Duration = Duration::from_secs(1);

/// The right to have requests in flight, shared by the operators of a process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RequestPermits(Arc<Semaphore>);

impl Default for RequestPermits {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl RequestPermits {
    /// For so many at once.
    #[cfg(test)]
    pub(super) fn of(at_once: usize) -> Self {
        Self(Arc::new(Semaphore::new(at_once)))
    }

    /// How many more may be sent now.
    pub(super) fn spare(&self) -> usize {
        self.0.available_permits()
    }

    /// Sends a request as soon as it may be. Who waits is next in the order of asking.
    pub(super) async fn during<T>(&self, request: impl Future<Output = T>) -> T {
        // It is never closed.
        let permit = self.0.acquire().await.ok();
        let mut request = pin!(request);
        if let Ok(answer) = tokio::time::timeout(SHORT, &mut request).await {
            return answer;
        }
        drop(permit);
        request.await
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn requests_that_hang_keep_the_others_waiting_for_a_moment_only() {
        let permits = RequestPermits::default();
        for _ in 0..AT_ONCE {
            let permits = permits.clone();
            tokio::spawn(async move { permits.during(pending::<()>()).await });
        }
        tokio::task::yield_now().await;
        assert_eq!(permits.spare(), 0);
        let begun = tokio::time::Instant::now();
        assert_eq!(permits.during(async { 7 }).await, 7);
        assert_eq!(begun.elapsed(), SHORT);
        assert_eq!(permits.spare(), AT_ONCE);
    }
}
