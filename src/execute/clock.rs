//! The clocks of reconciles.

use std::time::{Instant, SystemTime};

use crate::run::Now;

/// Both clocks. They are those of the runtime, which a test can move.
pub(crate) fn now() -> Now {
    let monotonic = tokio::time::Instant::now().into_std();
    let moved = monotonic.saturating_duration_since(Instant::now());
    Now { monotonic, wall: SystemTime::now() + moved }
}
