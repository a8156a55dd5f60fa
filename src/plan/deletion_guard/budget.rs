//! How many children an operator has deleted within the last minute. Reads no clock.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use crate::operator::Allowance;

const MINUTE: Duration = Duration::from_mins(1);

/// Deletions within one second are counted together, so that a minute has few entries.
const SECOND: Duration = Duration::from_secs(1);

/// The deletions of an operator within the last minute.
#[derive(Debug, Default)]
pub(crate) struct DeletionBudget {
    taken: VecDeque<Reservation>,
    /// How many children there were when they were counted; valid for a minute.
    of: Option<(Instant, usize)>,
}

/// Deletions that were reserved in a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reservation {
    at: Instant,
    deletions: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exceeded {
    /// The limit of one reconcile.
    Reconcile { allowed: usize },
    /// The limit of the whole operator within a minute.
    Minute { allowed: usize, of: usize },
}

impl DeletionBudget {
    /// Reserves deletions, all or none. `children` counts the existing children; it is called at
    /// most once a minute, and only for more deletions than are allowed in any case.
    ///
    /// # Errors
    /// They exceed the allowance.
    pub(crate) fn take(
        &mut self,
        allowance: Allowance,
        deletions: usize,
        now: Instant,
        children: impl FnOnce() -> usize,
    ) -> Result<Reservation, Exceeded> {
        self.forget_before(now);
        let before = self.taken();
        if before + deletions > allowance.at_least {
            let (_, of) = *self.of.get_or_insert_with(|| (now, before + children()));
            let allowed = allowance.of(of);
            if before + deletions > allowed {
                return Err(Exceeded::Minute { allowed, of });
            }
        }
        let at = self.count(deletions, now);
        Ok(Reservation { at, deletions })
    }

    /// Gives back the part of a reservation that was not carried out. A reservation counts for a
    /// minute.
    pub(crate) fn give_back(&mut self, taken: Reservation, carried_out: usize) {
        if let Some(counted) = self.taken.iter_mut().find(|counted| counted.at == taken.at) {
            let rest = taken.deletions.saturating_sub(carried_out);
            counted.deletions = counted.deletions.saturating_sub(rest);
        }
    }

    /// Returns the time at which they are counted.
    fn count(&mut self, deletions: usize, now: Instant) -> Instant {
        match self.taken.back_mut() {
            Some(last) if now.saturating_duration_since(last.at) < SECOND => {
                last.deletions += deletions;
                last.at
            }
            _ => {
                self.taken.push_back(Reservation { at: now, deletions });
                now
            }
        }
    }

    fn forget_before(&mut self, now: Instant) {
        let is_over = |at: Instant| now.saturating_duration_since(at) >= MINUTE;
        while self.taken.front().is_some_and(|taken| is_over(taken.at)) {
            self.taken.pop_front();
        }
        self.of = self.of.filter(|(at, _)| !is_over(*at));
    }

    fn taken(&self) -> usize {
        self.taken.iter().map(|taken| taken.deletions).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWANCE: Allowance = Allowance { percent: 50, at_least: 10 };

    fn seconds(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn the_limit_holds_for_a_sliding_minute() {
        let (mut minute, start) = (DeletionBudget::default(), Instant::now());
        let held = Err(Exceeded::Minute { allowed: 20, of: 40 });
        // Second, deletions, existing children.
        for (at, deletions, children, expected) in [
            (0, 10, None, Ok(())),
            (1, 10, Some(30), Ok(())),
            (2, 1, None, held),
            // Replacements of the deleted children do not raise the limit.
            (59, 1, None, held),
            (60, 1, None, Ok(())),
            (60, 9, None, Ok(())),
            (60, 1, None, held),
            // The count is a minute old.
            (61, 11, Some(100), Ok(())),
            (62, 40, None, Err(Exceeded::Minute { allowed: 55, of: 110 })),
            (62, 34, None, Ok(())),
        ] {
            let count = || children.expect("counted only when it matters");
            let taken = minute.take(ALLOWANCE, deletions, seconds(start, at), count);
            assert_eq!(taken.map(|_| ()), expected, "{deletions} at {at}");
        }
    }

    #[test]
    fn deletions_that_were_not_carried_out_are_given_back() {
        let (mut minute, start) = (DeletionBudget::default(), Instant::now());
        let take = |minute: &mut DeletionBudget, deletions, at| {
            minute.take(ALLOWANCE, deletions, seconds(start, at), || 10)
        };
        let all = take(&mut minute, 10, 0).unwrap();
        assert!(take(&mut minute, 10, 2).is_err());
        minute.give_back(all, 4);
        assert!(take(&mut minute, 7, 3).is_err());
        assert!(take(&mut minute, 6, 3).is_ok());
        // It is given back when it no longer counts; others still do.
        assert!(take(&mut minute, 4, 61).is_ok());
        minute.give_back(all, 0);
        assert!(take(&mut minute, 1, 62).is_err());
    }

    #[test]
    fn the_number_of_entries_is_bounded() {
        let (mut minute, start) = (DeletionBudget::default(), Instant::now());
        for at in 0..100_000 {
            let now = start + Duration::from_millis(at * 3);
            let taken = minute.take(Allowance { percent: 100, at_least: 9 }, 1, now, || 1_000_000);
            assert!(taken.is_ok());
        }
        assert!(minute.taken.len() <= 61, "{}", minute.taken.len());
    }
}
