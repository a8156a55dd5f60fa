//! When and why a parent is reconciled next, as it is shown. The schedule decides it.

use std::time::{Instant, SystemTime};

use schemars::JsonSchema;
use serde::Serialize;

use super::wire;
use crate::schedule::{self, WakeReason};

/// When and why a parent is reconciled next without a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NextWake {
    /// When.
    #[serde(serialize_with = "wire::time")]
    #[schemars(with = "wire::Timestamp")]
    pub(crate) at: SystemTime,
    /// Why.
    #[serde(serialize_with = "wire::wake_reason")]
    #[schemars(with = "String")]
    pub why: WakeReason,
}

impl NextWake {
    /// A timer of the schedule in wall clock time. The caller reads both clocks.
    pub(crate) fn in_wall_time(wake: schedule::Wake, now: Instant, wall: SystemTime) -> Self {
        Self { at: wall + wake.at.saturating_duration_since(now), why: wake.why }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_timer_is_shown_in_wall_clock_time() {
        let now = Instant::now();
        let at = now + Duration::from_secs(5);
        let wake = schedule::Wake { at, why: WakeReason::Resync };
        let shown = NextWake::in_wall_time(wake, now, SystemTime::UNIX_EPOCH);
        let expected = json!({"at": "1970-01-01T00:00:05.000Z", "why": "Resync"});
        assert_eq!(serde_json::to_value(shown).unwrap(), expected);
    }
}
