//! Limits the concurrent requests of all reconciles of a process.
//!
//! A request that is not answered within a second releases its permit and continues: hanging writes, for
//! example behind a webhook, delay the others only briefly.

use std::{pin::pin, sync::Arc, time::Duration};

use tokio::sync::Semaphore;

/// The most concurrent requests. Beyond it a kube-apiserver on a few cores answers no faster.
const AT_ONCE: usize = 32;

/// Longer than an answer takes, even of a busy server.
const SHORT: Duration = Duration::from_secs(1);

/// The request permits, shared by the operators of a process. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct RequestPermits(Arc<Semaphore>);

impl Default for RequestPermits {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl RequestPermits {
    #[cfg(test)]
    pub(super) fn of(at_once: usize) -> Self {
        Self(Arc::new(Semaphore::new(at_once)))
    }

    pub(super) fn spare(&self) -> usize {
        self.0.available_permits()
    }

    /// Sends a request when a permit is free, in the order of the calls.
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
    async fn requests_that_hang_delay_the_others_for_a_second_only() {
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
