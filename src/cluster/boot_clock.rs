//! The clock of elections, which also runs while the machine is suspended.

use std::time::{Instant, SystemTime};

use crate::election::{Now, SinceBoot};

/// Both clocks of elections. They are those of the runtime, which a test can move.
pub(crate) fn election_now() -> Now {
    let moved = tokio::time::Instant::now().into_std().saturating_duration_since(Instant::now());
    Now { boot: since_boot().plus(moved), wall: SystemTime::now() + moved }
}

#[cfg(target_os = "linux")]
fn since_boot() -> SinceBoot {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanos = u32::try_from(time.tv_nsec).unwrap_or_default();
    SinceBoot(std::time::Duration::new(seconds, nanos))
}

/// Elsewhere the time of a suspended machine is not counted.
#[cfg(not(target_os = "linux"))]
fn since_boot() -> SinceBoot {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    SinceBoot(START.elapsed())
}
