//! The times of conditions.

use std::time::SystemTime;

/// A time in RFC 3339, to the second.
pub(super) fn text(now: SystemTime) -> String {
    use k8s_openapi::jiff::{SignedDuration, Timestamp, Unit};
    let now = Timestamp::try_from(now).unwrap_or(Timestamp::UNIX_EPOCH);
    let seconds = now.round(Unit::Second).unwrap_or(now);
    debug_assert!(seconds.duration_since(now).abs() <= SignedDuration::from_secs(1));
    seconds.to_string()
}
