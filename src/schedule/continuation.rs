//! Decides whether a reconcile is repeated at once, on the replies and with the same permit.

use super::facts::Finished;

/// After this many reconciles in a row that wrote children, the next ones wait.
pub(crate) const WRITING_RECONCILES_AT_ONCE: u32 = 3;

/// Whether the next reconcile begins at once. `in_a_row` counts the reconciles in a row that wrote children,
/// including this one; `is_urgent` means that changes of other parents wait.
///
/// Changes of other parents precede the status of this one. A reconcile that created children continues
/// anyway, so that of many new parents the first are completed early.
pub(crate) fn continues_at_once(finished: Finished, in_a_row: u32, is_urgent: bool) -> bool {
    !is_urgent && is_due(finished, in_a_row)
}

/// Whether the next reconcile is due at once, with this permit or a new one.
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
    fn only_writes_are_repeated_at_once_up_to_a_limit() {
        use Finished::{
            Calming, Failed, FailedForGood, Recheck, Recreating, Settled, Slowed, Wrote,
        };
        let after = Duration::from_secs(1);
        for (finished, in_a_row, is_urgent, expected) in [
            (Wrote, 1, false, true),
            (Wrote, 2, false, true),
            (Wrote, 3, false, false),
            (Wrote, 1, true, false),
            // A recreated child is missing meanwhile.
            (Recreating, 9, false, true),
            (Recreating, 1, true, false),
            (Settled { resync: Some(Duration::ZERO) }, 0, false, false),
            (Recheck { after }, 0, false, false),
            (Calming { after }, 0, false, false),
            (Slowed { times: 1, at_most: after }, 1, false, false),
            (Failed, 1, false, false),
            (FailedForGood, 1, false, false),
        ] {
            let seen = continues_at_once(finished, in_a_row, is_urgent);
            assert_eq!(seen, expected, "{finished:?} {in_a_row} {is_urgent}");
        }
    }
}
