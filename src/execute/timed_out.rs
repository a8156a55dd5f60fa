//! The handlers of an operator that are past their deadline; each holds its permit until it returns. Counts
//! them and reports when they hold all permits; decides nothing.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

#[derive(Debug, Default)]
pub(super) struct TimedOut(Mutex<Vec<Instant>>);

/// Rounded: otherwise the state of the operator would change at each look.
const AGES: [(Duration, &str); 8] = [
    (Duration::from_hours(24), "more than a day"),
    (Duration::from_hours(6), "more than six hours"),
    (Duration::from_hours(1), "more than an hour"),
    (Duration::from_mins(15), "more than a quarter of an hour"),
    (Duration::from_mins(5), "more than five minutes"),
    (Duration::from_mins(1), "more than a minute"),
    (Duration::from_secs(10), "more than ten seconds"),
    (Duration::ZERO, "a few seconds"),
];

impl TimedOut {
    /// Counts one more, until it [ends](Self::end); returns the count.
    pub(super) fn begin(&self, called: Instant) -> usize {
        let mut calls = self.calls();
        calls.push(called);
        calls.len()
    }

    /// Removes one; returns the count.
    pub(super) fn end(&self, called: Instant) -> usize {
        let mut calls = self.calls();
        // Calls of the same instant are interchangeable.
        if let Some(index) = calls.iter().position(|known| *known == called) {
            calls.swap_remove(index);
        }
        calls.len()
    }

    /// The reason if handlers past their deadline hold all permits.
    pub(super) fn why_blocked(&self, limit: usize, now: Instant) -> Option<String> {
        why_blocked(&self.calls(), limit, now)
    }

    fn calls(&self) -> MutexGuard<'_, Vec<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn why_blocked(calls: &[Instant], limit: usize, now: Instant) -> Option<String> {
    let first = calls.iter().min().filter(|_| calls.len() >= limit)?;
    let age = now.saturating_duration_since(*first);
    let (_, age) = AGES.into_iter().find(|(least, _)| age >= *least)?;
    let held = calls.len();
    Some(format!(
        "{held} of {limit} concurrent reconciles are blocked by handlers past their deadline, the \
         longest for {age}; no other parent is reconciled until they return"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_is_blocked_while_timed_out_handlers_hold_every_permit() {
        let (start, minute) = (Instant::now(), Duration::from_mins(1));
        let (early, late, now) = (start, start + 4 * minute, start + 6 * minute);
        let blocked = |held, age| {
            Some(format!(
                "{held} concurrent reconciles are blocked by handlers past their deadline, the \
                 longest for {age}; no other parent is reconciled until they return"
            ))
        };
        for (calls, limit, expected) in [
            (vec![], 1, None),
            (vec![early], 2, None),
            (vec![late], 1, blocked("1 of 1", "more than a minute")),
            (vec![late, early], 2, blocked("2 of 2", "more than five minutes")),
            (vec![now], 1, blocked("1 of 1", "a few seconds")),
        ] {
            assert_eq!(why_blocked(&calls, limit, now), expected, "{calls:?}");
        }
    }
}
