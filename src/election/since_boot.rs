//! A time that also passes while the machine is suspended.

use std::time::Duration;

/// The time since the machine started.
///
/// Unlike [`Instant`](std::time::Instant) it passes while the machine is suspended, in which another process may
/// have become the leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SinceBoot(pub(crate) Duration);

impl SinceBoot {
    /// This time and another.
    pub(crate) fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration))
    }

    /// How long it is from now until then; zero for a time that has passed.
    pub(crate) fn from(self, now: Self) -> Duration {
        self.0.saturating_sub(now.0)
    }
}
