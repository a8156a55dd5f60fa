//! Whether a reconcile is followed by another one at once, on what the replies said, and on the permit that
//! it has: the one decision about that.

use super::facts::Finished;

/// After this many runs in a row that wrote children, the next ones wait.
pub const WRITING_RECONCILES_AT_ONCE: u32 = 3;

/// Whether the next reconcile begins at once. `in_a_row` is how many in a row have written children, with
/// this one; `is_urgent` says that changes of other parents wait.
///
/// What a changed parent asks of its children does not wait for the statuses of those before it; who has
/// just created children goes on all the same, so that of many new parents the first are complete early.
pub fn goes_on(finished: Finished, in_a_row: u32, is_urgent: bool) -> bool {
    !is_urgent && is_due(finished, in_a_row)
}

/// Whether the next reconcile is due at once, on a permit of its own if not on this one.
pub(super) fn is_due(finished: Finished, in_a_row: u32) -> bool {
    match finished {
        Finished::Recreating => true,
        Finished::Wrote => in_a_row < WRITING_RECONCILES_AT_ONCE,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_writes_are_followed_up_at_once_and_not_for_ever() {
        use Finished::{
            Calming, Failed, FailedForGood, Recheck, Recreating, Settled, Slowed, Wrote,
        };
        let after = Duration::from_secs(1);
        for (finished, in_a_row, is_urgent, expected) in [
            (Wrote, 1, false, true),
            (Wrote, 2, false, true),
            (Wrote, 3, false, false),
            (Wrote, 1, true, false),
            // What was deleted to come again is away meanwhile.
            (Recreating, 9, false, true),
            (Recreating, 1, true, false),
            (Settled { resync: Some(Duration::ZERO) }, 0, false, false),
            (Recheck { after }, 0, false, false),
            (Calming { after }, 0, false, false),
            (Slowed { times: 1, at_most: after }, 1, false, false),
            (Failed, 1, false, false),
            (FailedForGood, 1, false, false),
        ] {
            let seen = goes_on(finished, in_a_row, is_urgent);
            assert_eq!(seen, expected, "{finished:?} {in_a_row} {is_urgent}");
        }
    }
}
