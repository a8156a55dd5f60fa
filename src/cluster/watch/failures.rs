//! Handles failed, silent and stuck streams: backoff, or a new list.

use std::time::Duration;

use tokio::time::Instant;

use super::{super::WatchNote, End, Loop, SHORT_STREAM};
use crate::{
    reply::{ApiError, ErrorClass},
    schedule::Backoff,
};

const BACKOFF: Backoff = Backoff { min: Duration::from_millis(250), max: Duration::from_secs(15) };

/// So many short streams in a row without a processed event are stuck: at an event that cannot be sent
/// (a failing conversion webhook) or decoded, or at a version that the server refuses. A list skips such
/// an event.
const MAX_SHORT_STREAMS: u32 = 3;

/// The same for longer streams. Most are of types without changes, behind a proxy that ends idle
/// connections, and a list would show nothing new.
const MAX_IDLE_STREAMS: u32 = 6;
const MIN_RELIST_INTERVAL: Duration = Duration::from_mins(10);

/// Over so many milliseconds lists are spread when the server has compacted the versions of many scopes.
const LIST_SPREAD_MILLIS: u64 = 1000;

impl<N: Fn(WatchNote) + Send> Loop<N> {
    pub(super) fn restart(&mut self, reason: &'static str) {
        self.cluster.metrics().watch_restarted(&self.spec.ty, reason);
        self.from = None;
        (self.note)(WatchNote::Lost);
    }

    /// Restarts with a list if no stream makes progress from its version.
    pub(super) fn relist_if_stuck(&mut self, end: &Result<End, ApiError>) {
        let is_without_progress =
            self.opened.is_some() || (self.answered.is_some() && refuses_version(end));
        if self.from.is_none() || matches!(end, Ok(End::Gone(_))) || !is_without_progress {
            return;
        }
        self.idle_streams += 1;
        let is_short = self.opened.is_none_or(|at| at.elapsed() <= SHORT_STREAM);
        self.idle_short_streams = if is_short { self.idle_short_streams + 1 } else { 0 };
        let is_old = self.listed.is_none_or(|at| at.elapsed() > MIN_RELIST_INTERVAL);
        if self.idle_short_streams >= MAX_SHORT_STREAMS
            || (self.idle_streams >= MAX_IDLE_STREAMS && is_old)
        {
            self.restart("stuck");
        }
    }

    /// Lets a list of one object precede the next stream.
    pub(super) fn silent(&mut self) {
        self.cluster.metrics().watch_restarted(&self.spec.ty, "silent");
        self.may_have_regressed = true;
    }

    /// Resets the backoff and the outage.
    pub(super) fn reset_failures(&mut self) {
        (self.failures, self.short_streams) = (0, 0);
        self.outage_since = None;
    }

    pub(super) async fn fail(&mut self, error: ApiError, started: Instant) {
        if error.class() == ErrorClass::NotServed {
            self.from = None;
        }
        self.cluster.metrics().watch_restarted(&self.spec.ty, "error");
        self.failures += 1;
        if is_outage(&error) {
            // Without any answer the outage began with the request.
            let since = self.opened.map_or(started, |_| Instant::now());
            self.outage_since.get_or_insert(since);
        }
        self.alive = None;
        self.may_have_regressed = true;
        let usual = BACKOFF.delay(self.failures, self.seed);
        let retry_in = match error.class() {
            // Some servers always send a `Retry-After` of one second.
            ErrorClass::Wait(delay) => {
                Backoff::with_jitter(Backoff::capped(delay).max(usual), self.seed)
            }
            _ => usual,
        };
        (self.note)(WatchNote::Failed { error, retry_in });
        tokio::time::sleep(retry_in).await;
    }

    /// After a restart the versions of all watches are too old for the server: the lists are spread.
    pub(super) async fn pause_before_list(&mut self) {
        tokio::time::sleep(Duration::from_millis(self.seed % LIST_SPREAD_MILLIS)).await;
        self.pause_before_retry().await;
    }

    /// The first retry is immediate. A server that ends every watch at once, or refuses the version of
    /// its own list as too old, must not be asked in a tight loop.
    pub(super) async fn pause_before_retry(&mut self) {
        self.short_streams += 1;
        if self.short_streams > 1 {
            tokio::time::sleep(BACKOFF.delay(self.short_streams - 1, self.seed)).await;
        }
    }
}

/// Whether the server may have refused the watch because of its version.
fn refuses_version(end: &Result<End, ApiError>) -> bool {
    let code = end.as_ref().err().and_then(ApiError::code);
    matches!(code, Some(400 | 422 | 500..=599))
}

/// Whether the server or its etcd was unreachable (then it answers 500). A server that refuses or is busy
/// was not restored from a backup.
fn is_outage(error: &ApiError) -> bool {
    error.is_unanswered() || matches!(error.code(), Some(500 | 502..=504))
}
