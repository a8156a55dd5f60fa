//! How long to wait after a failure. Pure: computes the delay from the number of failures.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

/// Delays that grow with each consecutive failure of a parent, up to a longest one.
///
/// ```
/// use roperator::handler::failable::BackoffConfig;
/// use std::time::Duration;
///
/// let backoff = BackoffConfig { multiplier: 2.0, ..BackoffConfig::default() };
/// assert_eq!(backoff.max_interval, Duration::from_secs(600));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BackoffConfig {
    /// The delay after the first failure. Default 500 ms.
    pub initial_interval: Duration,
    /// The longest delay. Default 600 s.
    pub max_interval: Duration,
    /// For how long a failing sync is retried, as the sum of the delays; after that the parent is
    /// not reconciled until it changes. Default: for ever. A failing `finalize` is always retried.
    pub give_up_after: Option<Duration>,
    /// What a delay is multiplied with for the next one; at least 1. Default 1.5.
    pub multiplier: f64,
    /// The fraction by which a delay may be longer or shorter, so that parents that failed together
    /// are not retried together. From 0 to 1, default 0.5.
    pub randomization_factor: f64,
}

impl Default for BackoffConfig {
    fn default() -> Self {
        Self {
            initial_interval: Duration::from_millis(500),
            max_interval: Duration::from_mins(10),
            give_up_after: None,
            multiplier: 1.5,
            randomization_factor: 0.5,
        }
    }
}

impl BackoffConfig {
    /// Always the same delay.
    pub fn fixed_interval(interval: Duration) -> Self {
        Self {
            initial_interval: interval,
            max_interval: interval,
            give_up_after: None,
            multiplier: 1.0,
            randomization_factor: 0.0,
        }
    }

    /// Does not retry a failed sync before the parent changes.
    pub fn never_retry() -> Self {
        Self { give_up_after: Some(Duration::ZERO), ..Self::default() }
    }

    /// The same delay for every parent.
    #[must_use]
    pub fn disable_randomization(mut self) -> Self {
        self.randomization_factor = 0.0;
        self
    }

    /// The delay before a sync is retried that had failed so often before, of a parent with this uid;
    /// `None` to give up.
    pub(crate) fn next(&self, failures: u32, uid: &str) -> Option<Duration> {
        let waited = || (0..failures).map(|failures| self.interval(failures));
        let is_over = |limit: Duration| {
            let mut sum = Duration::ZERO;
            limit.is_zero()
                || waited().any(|delay| {
                    sum = sum.saturating_add(delay);
                    sum >= limit
                })
        };
        match self.give_up_after {
            Some(limit) if is_over(limit) => None,
            Some(_) | None => Some(self.next_for_ever(failures, uid)),
        }
    }

    /// The delay without ever giving up.
    pub(crate) fn next_for_ever(&self, failures: u32, uid: &str) -> Duration {
        let spread = self.randomization_factor.clamp(0.0, 1.0);
        let factor = 1.0 + spread * (2.0 * fraction(failures, uid) - 1.0);
        self.at_most(self.interval(failures).as_secs_f64() * factor)
    }

    /// The delay after so many earlier failures, without randomization.
    fn interval(&self, failures: u32) -> Duration {
        let exponent = i32::try_from(failures).unwrap_or(i32::MAX);
        let factor = self.multiplier.max(1.0).powi(exponent);
        self.at_most(self.initial_interval.as_secs_f64() * factor)
    }

    /// A number that is no duration becomes the longest delay.
    fn at_most(&self, seconds: f64) -> Duration {
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX).min(self.max_interval)
    }
}

/// A number from 0 to 1 that depends on the parent and on how often it failed.
fn fraction(failures: u32, uid: &str) -> f64 {
    let mut hasher = DefaultHasher::new();
    (uid, failures).hash(&mut hasher);
    let high = u32::try_from(hasher.finish() >> 32).unwrap_or(u32::MAX);
    f64::from(high) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(backoff: BackoffConfig) -> Vec<Option<u128>> {
        let delay = |failures| backoff.next(failures, "u");
        (0..6).map(|failures| delay(failures).map(|delay| delay.as_millis())).collect()
    }

    #[test]
    fn delays_grow_up_to_the_longest() {
        let backoff = BackoffConfig {
            multiplier: 2.0,
            max_interval: Duration::from_secs(3),
            ..BackoffConfig::default()
        };
        let expected = [500, 1000, 2000, 3000, 3000, 3000].map(Some);
        assert_eq!(delays(backoff.disable_randomization()), expected);
        let many = backoff.disable_randomization().next(u32::MAX, "u");
        assert_eq!(many, Some(Duration::from_secs(3)));
        let delays = (0..100).map(|failures| backoff.next_for_ever(failures, "u"));
        assert!(delays.into_iter().all(|delay| delay <= backoff.max_interval));
    }

    #[test]
    fn numbers_that_are_no_duration_give_the_longest_delay() {
        let longest = Duration::MAX;
        let endless = BackoffConfig { max_interval: longest, ..BackoffConfig::default() };
        for backoff in [
            BackoffConfig { initial_interval: longest, ..endless },
            BackoffConfig { multiplier: f64::INFINITY, ..endless },
            BackoffConfig { randomization_factor: f64::NAN, ..endless },
        ] {
            assert_eq!(backoff.next_for_ever(u32::MAX, "u"), longest, "{backoff:?}");
        }
        let odd = BackoffConfig { multiplier: f64::NAN, ..BackoffConfig::default() };
        assert!(odd.next_for_ever(9, "u") < Duration::from_secs(1), "not multiplied");
    }

    #[test]
    fn a_fixed_interval_is_constant_and_never_retry_never_retries() {
        let fixed = BackoffConfig::fixed_interval(Duration::from_millis(70));
        assert_eq!(delays(fixed), [Some(70); 6]);
        assert_eq!(delays(BackoffConfig::never_retry()), [None; 6]);
    }

    #[test]
    fn retries_end_when_they_have_taken_long_enough() {
        let limited = BackoffConfig {
            give_up_after: Some(Duration::from_millis(200)),
            ..BackoffConfig::fixed_interval(Duration::from_millis(70))
        };
        assert_eq!(delays(limited), [Some(70), Some(70), Some(70), None, None, None]);
        assert_eq!(limited.next_for_ever(9, "u"), Duration::from_millis(70));
    }

    #[test]
    fn parents_that_fail_together_do_not_retry_together() {
        let backoff = BackoffConfig::default();
        let parents = (0..100).map(|parent| parent.to_string());
        let mut delays: Vec<_> = parents.map(|uid| backoff.next_for_ever(1, &uid)).collect();
        assert!(delays.iter().all(|delay| (375..=1125).contains(&delay.as_millis())));
        delays.sort_unstable();
        delays.dedup();
        assert!(delays.len() > 90, "{}", delays.len());
    }
}
