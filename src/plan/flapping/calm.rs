//! How long a repeated write counts.

use std::time::Duration;

use crate::schedule::Backoff;

/// How long a repeated write counts, by the backoff that delays repairs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Calm(Backoff);

/// The shortest time after which flapping ends: a manual edit is not repeated within it by chance.
const SHORTEST: Duration = Duration::from_mins(1);

impl Calm {
    pub(crate) fn new(backoff: Backoff) -> Self {
        Self(backoff)
    }

    /// How long a repeated write of a field counts, after `too_often` writes above the limit. Twice
    /// the delay of its next repair: another writer that still fights has reverted it by then.
    /// Below the limit twice the longest backoff, so that a slow fight is not forgotten between two
    /// repairs.
    pub(crate) fn after(self, too_often: u32) -> Duration {
        let longest = self.0.max.saturating_mul(2);
        if too_often == 0 {
            return longest;
        }
        let doublings = too_often.saturating_sub(1).min(31);
        let slowed = self.0.min.saturating_mul(1 << doublings).saturating_mul(2);
        slowed.max(SHORTEST).min(longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flapping_ends_after_twice_the_last_delay_but_not_within_a_minute() {
        let seconds = Duration::from_secs;
        let calm = Calm::new(Backoff { min: seconds(1), max: seconds(600) });
        for (too_often, expected) in
            [(0, 1200), (1, 60), (5, 60), (6, 64), (7, 128), (10, 1024), (11, 1200), (999, 1200)]
        {
            assert_eq!(calm.after(too_often), seconds(expected), "{too_often}");
        }
        let quick = Calm::new(Backoff { min: seconds(1), max: seconds(10) });
        assert_eq!(quick.after(1), seconds(20), "no longer than below the limit");
    }
}
