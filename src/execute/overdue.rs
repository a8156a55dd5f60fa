//! The handlers of an operator that are past their deadline: each holds its place until it returns.
//! Counts them and says when they hold all places; decides nothing.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// When each handler that is past its deadline was called.
#[derive(Debug, Default)]
pub(super) struct Overdue(Mutex<Vec<Instant>>);

/// Told in steps: else the state of the operator would be news at each look.
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

impl Overdue {
    /// Counts one more, until it is [ended](Self::end); how many there are now.
    pub(super) fn begin(&self, called: Instant) -> usize {
        let mut calls = self.calls();
        calls.push(called);
        calls.len()
    }

    /// One has returned; how many there are now.
    pub(super) fn end(&self, called: Instant) -> usize {
        let mut calls = self.calls();
        // Calls of one moment are as good as each other.
        if let Some(index) = calls.iter().position(|known| *known == called) {
            calls.swap_remove(index);
        }
        calls.len()
    }

    /// Why nothing is reconciled, while handlers that do not return hold each of so many places.
    pub(super) fn holds_up(&self, places: usize, now: Instant) -> Option<String> {
        held_up(&self.calls(), places, now)
    }

    fn calls(&self) -> MutexGuard<'_, Vec<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn held_up(calls: &[Instant], places: usize, now: Instant) -> Option<String> {
    let first = calls.iter().min().filter(|_| calls.len() >= places)?;
    let age = now.saturating_duration_since(*first);
    let (_, age) = AGES.into_iter().find(|(least, _)| age >= *least)?;
    let held = calls.len();
    Some(format!(
        "{held} of {places} places are held by handlers past their deadline, the longest for {age}; \
         it does nothing until they return"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_is_held_up_while_every_place_is() {
        let (start, minute) = (Instant::now(), Duration::from_mins(1));
        let (early, late, now) = (start, start + 4 * minute, start + 6 * minute);
        let told = |held, age| {
            Some(format!(
                "{held} places are held by handlers past their deadline, the longest for {age}; it \
                 does nothing until they return"
            ))
        };
        for (calls, places, expected) in [
            (vec![], 1, None),
            (vec![early], 2, None),
            (vec![late], 1, told("1 of 1", "more than a minute")),
            (vec![late, early], 2, told("2 of 2", "more than five minutes")),
            (vec![now], 1, told("1 of 1", "a few seconds")),
        ] {
            assert_eq!(held_up(&calls, places, now), expected, "{calls:?}");
        }
    }
}
