//! The texts for each reason of the next reconcile.

use crate::schedule::WakeReason;

/// The reason of the next reconcile, as the end of a sentence.
pub(in crate::web) fn purpose(why: WakeReason) -> &'static str {
    match why {
        WakeReason::Resync => "because the handler requested it",
        WakeReason::Retry => "to retry",
        WakeReason::Throttled => "when the API server allows it",
        WakeReason::Recheck => "to check what it waits for",
        WakeReason::Unsettled => "because each reconcile had to write its children",
        WakeReason::Slowed => "because flapping writes are delayed",
        WakeReason::Calming => "to check whether the flapping has ended",
        WakeReason::PauseEnds => "because its pause ends",
        WakeReason::Debounce => "when the debounce interval has ended",
        WakeReason::Spread => {
            "because of a related object that many parents read, one parent after the other"
        }
    }
}
