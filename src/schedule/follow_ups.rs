//! Reconciles for changes of children while a failure waits for its retry: what was refused stays refused, but
//! the status follows the other children.
//!
//! They come no faster than [`PACE`] allows, since each repeats what failed. They neither bring the retry forward nor
//! count as failures: the retry comes when it was due.

use std::time::{Duration, Instant};

use super::Backoff;

/// The delays between the failed reconciles that children cause.
const PACE: Backoff = Backoff { min: Duration::from_secs(1), max: Duration::from_secs(30) };

#[derive(Debug, Clone, Default)]
pub(super) struct FollowUps {
    /// When the last reconcile failed.
    failed_at: Option<Instant>,
    /// When the retry is due whose wait a follow-up has cut short.
    retry_at: Option<Instant>,
    in_a_row: u32,
}

impl FollowUps {
    /// When a change of a child is followed.
    pub(super) fn due(&self, seed: u64, now: Instant) -> Instant {
        self.failed_at.map_or(now, |at| now.max(at + PACE.delay(self.in_a_row + 1, seed)))
    }

    /// A follow-up comes before the retry that is due then.
    pub(super) fn cut_short(&mut self, retry_at: Instant) {
        self.retry_at.get_or_insert(retry_at);
    }

    /// The next reconcile is no follow-up: the retry itself, or for another reason.
    pub(super) fn end(&mut self) {
        self.retry_at = None;
    }

    /// Whether the last reconcile was one.
    pub(super) fn is_one(&self) -> bool {
        self.retry_at.is_some()
    }

    /// A reconcile failed; returns when the retry is due that it came before.
    pub(super) fn failed(&mut self, now: Instant) -> Option<Instant> {
        self.in_a_row = if self.is_one() { self.in_a_row.saturating_add(1) } else { 0 };
        self.failed_at = Some(now);
        self.retry_at.take()
    }
}
