//! The handlers of an operator that are past their deadline: each holds its place until it returns.
//! Counts them and says when they hold all places; decides nothing.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::Context;

/// When each handler that is past its deadline was called.
#[derive(Debug, Default)]
pub(super) struct Overdue(Mutex<Vec<Instant>>);

/// A handler that is past its deadline, until it is dropped.
#[derive(Debug)]
pub(super) struct Hanging<'a> {
    context: &'a Context,
    called: Instant,
}

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

impl Context {
    /// Counts a handler that has not returned in time, until it has.
    pub(super) fn hangs(&self, called: Instant) -> Hanging<'_> {
        self.count_overdue(|calls| calls.push(called));
        Hanging { context: self, called }
    }

    /// Why nothing runs for any parent, while handlers that do not return hold every place.
    pub fn held_up(&self, now: Instant) -> Option<String> {
        held_up(&self.overdue().calls(), self.config().max_concurrent_runs, now)
    }

    fn count_overdue(&self, change: impl FnOnce(&mut Vec<Instant>)) {
        let mut calls = self.overdue().calls();
        change(&mut calls);
        self.metrics().handlers_overdue(self.name(), calls.len());
    }
}

impl Drop for Hanging<'_> {
    fn drop(&mut self) {
        // Calls of one moment are as good as each other.
        self.context.count_overdue(|calls| {
            if let Some(index) = calls.iter().position(|called| *called == self.called) {
                calls.swap_remove(index);
            }
        });
    }
}

impl Overdue {
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
