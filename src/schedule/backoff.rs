//! The delays after failures in a row.

use std::time::Duration;

/// The longest delay honoured from a `Retry-After` header.
const LONGEST_THROTTLE: Duration = Duration::from_mins(10);

/// Delays that double from `min` to `max`, with jitter so that parents do not retry together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Backoff {
    /// The delay after the first failure.
    pub(crate) min: Duration,
    /// The longest delay.
    pub(crate) max: Duration,
}

impl Backoff {
    /// The delay after `failures` in a row (from 1). `seed` selects the jitter within the upper half of the
    /// interval; the same seed gives the same delays.
    pub(crate) fn delay(self, failures: u32, seed: u64) -> Duration {
        let doublings = failures.saturating_sub(1).min(31);
        let full = self.min.saturating_mul(1 << doublings).min(self.max);
        let half = full / 2;
        half + half.mul_f64(fraction(seed, failures))
    }

    /// The delay that a server asked for, up to the longest one: the answer may come from a proxy during a
    /// maintenance that ends earlier.
    pub(crate) fn capped(asked: Duration) -> Duration {
        asked.min(LONGEST_THROTTLE)
    }

    /// The delay plus up to a tenth of jitter: parents with the same delay do not retry together, and none
    /// early.
    pub(crate) fn with_jitter(asked: Duration, seed: u64) -> Duration {
        asked + asked.mul_f64(fraction(seed, 0) / 10.0)
    }
}

/// A number from 0 to 1 that depends on all bits of its arguments (the finaliser of `SplitMix64`).
fn fraction(seed: u64, step: u32) -> f64 {
    let mut bits = seed.wrapping_add(u64::from(step).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^= bits >> 31;
    f64::from(u32::try_from(bits >> 32).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff =
        Backoff { min: Duration::from_millis(500), max: Duration::from_secs(10) };

    #[test]
    fn delays_double_up_to_the_longest() {
        for (failures, full) in [(1, 500), (2, 1000), (3, 2000), (6, 10_000), (1000, 10_000)] {
            for seed in 0..100 {
                let delay = BACKOFF.delay(failures, seed).as_millis();
                assert!((full / 2..=full).contains(&delay), "{failures}: {delay}");
            }
        }
    }

    #[test]
    fn a_requested_delay_is_never_shortened_and_gets_jitter() {
        let asked = Duration::from_secs(10);
        let mut delays: Vec<_> = (0..100).map(|seed| Backoff::with_jitter(asked, seed)).collect();
        assert!(delays.iter().all(|delay| (asked..=asked * 11 / 10).contains(delay)));
        delays.sort_unstable();
        delays.dedup();
        assert!(delays.len() > 90, "{}", delays.len());
    }

    #[test]
    fn parents_that_fail_together_do_not_retry_together() {
        let mut delays: Vec<_> = (0..100).map(|seed| BACKOFF.delay(3, seed)).collect();
        delays.sort_unstable();
        delays.dedup();
        assert!(delays.len() > 90, "{}", delays.len());
    }
}
