//! What follows when a stream ends otherwise than it was to.

use std::time::Duration;

use tokio::time::Instant;

use super::{super::WatchNote, End, Loop, SHORT_WATCH};
use crate::{
    reply::{ApiError, ErrorClass},
    schedule::Backoff,
};

const BACKOFF: Backoff = Backoff { min: Duration::from_millis(250), max: Duration::from_secs(15) };

/// As many streams that end as soon as they begin, and before anything could be taken in, are stuck:
/// at an event that the server cannot send (a conversion webhook fails), or that cannot be read, or at
/// a version that it refuses. A list shows only what there is now.
const STUCK_AT_ONCE: u32 = 3;

/// The same of streams that end later: most are of types in which nothing happens, behind something
/// that ends what is idle, and a list would show nothing new.
const STUCK_IN_TIME: u32 = 6;
const LISTED_AT_MOST_EVERY: Duration = Duration::from_mins(10);

/// Over so many milliseconds the lists are spread of those whose versions are forgotten together.
const LISTS_WITHIN: u64 = 1000;

impl<N: Fn(WatchNote) + Send> Loop<N> {
    pub(super) fn restart(&mut self, reason: &'static str) {
        self.cluster.metrics().watch_restarted(&self.spec.ty, reason);
        self.from = None;
        (self.note)(WatchNote::Lost);
    }

    /// Begins with a list where no stream gets on from its version.
    pub(super) fn give_up_if_stuck(&mut self, end: &Result<End, ApiError>) {
        let is_in_vain = self.opened.is_some() || (self.answered.is_some() && refuses_version(end));
        if self.from.is_none() || matches!(end, Ok(End::Gone(_))) || !is_in_vain {
            return;
        }
        self.mute += 1;
        let is_quick = self.opened.is_none_or(|at| at.elapsed() <= SHORT_WATCH);
        self.quick = if is_quick { self.quick + 1 } else { 0 };
        let is_old = self.listed.is_none_or(|at| at.elapsed() > LISTED_AT_MOST_EVERY);
        if self.quick >= STUCK_AT_ONCE || (self.mute >= STUCK_IN_TIME && is_old) {
            self.restart("stuck");
        }
    }

    /// The next stream is opened after a look at the server.
    pub(super) fn fell_silent(&mut self) {
        self.cluster.metrics().watch_restarted(&self.spec.ty, "silent");
        self.is_doubtful = true;
    }

    /// What went wrong before does not count any more.
    pub(super) fn worked(&mut self) {
        (self.failures, self.hurries) = (0, 0);
        self.out_since = None;
    }

    pub(super) async fn fail(&mut self, error: ApiError, started: Instant) {
        if error.class() == ErrorClass::NotServed {
            self.from = None;
        }
        self.cluster.metrics().watch_restarted(&self.spec.ty, "error");
        self.failures += 1;
        if is_outage(&error) {
            // What was never answered was in vain from its start.
            let since = self.opened.map_or(started, |_| Instant::now());
            self.out_since.get_or_insert(since);
        }
        self.alive = None;
        self.is_doubtful = true;
        let usual = BACKOFF.delay(self.failures, self.seed);
        let retry_in = match error.class() {
            // Some ask for a second whatever trouble they are in.
            ErrorClass::Wait(delay) => {
                Backoff::with_jitter(Backoff::capped(delay).max(usual), self.seed)
            }
            _ => usual,
        };
        (self.note)(WatchNote::Failed { error, retry_in });
        tokio::time::sleep(retry_in).await;
    }

    /// A server that is restarted has forgotten the versions of all that watch it: they do not list in
    /// one moment.
    pub(super) async fn pause_before_list(&mut self) {
        tokio::time::sleep(Duration::from_millis(self.seed % LISTS_WITHIN)).await;
        self.pause_before_retry().await;
    }

    /// The first time costs nothing; a server that ends every watch at once, or calls the version
    /// of its own list too old, must not be asked in a tight loop.
    pub(super) async fn pause_before_retry(&mut self) {
        self.hurries += 1;
        if self.hurries > 1 {
            tokio::time::sleep(BACKOFF.delay(self.hurries - 1, self.seed)).await;
        }
    }
}

/// Whether it may be for its version that a watch is not opened, by a server that answers otherwise.
fn refuses_version(end: &Result<End, ApiError>) -> bool {
    let code = end.as_ref().err().and_then(ApiError::code);
    matches!(code, Some(400 | 422 | 500..=599))
}

/// Whether there was no server to answer, or none behind it (500 is what one says whose etcd is not to
/// be reached): one that refuses, or is busy, has not been restored.
fn is_outage(error: &ApiError) -> bool {
    matches!(error, ApiError::Unreachable { .. } | ApiError::TimedOut { .. })
        || matches!(error.code(), Some(500 | 502..=504))
}
