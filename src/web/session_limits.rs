//! The limits of the sessions of browsers, which `/debug/config` shows.

use std::time::Duration;

#[derive(Debug, Clone, Copy)]
pub(super) struct SessionLimits {
    pub(super) life: Duration,
    /// The maximum time without a request.
    pub(super) idle: Duration,
    /// The limit for all users. Beyond it a user can only replace a session of their own.
    pub(super) kept: usize,
    /// The limit for one user, whose oldest session is replaced.
    pub(super) per_user: usize,
}

pub(super) const LIMITS: SessionLimits = SessionLimits {
    life: Duration::from_hours(12),
    idle: Duration::from_hours(1),
    kept: 1024,
    per_user: 8,
};

/// How many logins of one address may fail within a minute.
pub(super) const FAILURES: u32 = 10;
