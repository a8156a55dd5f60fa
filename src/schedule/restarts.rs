//! Whether and when an actor is restarted after a panic.
//!
//! | panics, each within five minutes after the last restart | next |
//! |---|---|
//! | 1 | restart at once |
//! | 2 to 5 | restart after 1, 2, 4, 8 seconds |
//! | 6, 7, 8, ... | give up: try again after 5, 10, 20, ... minutes, at most an hour |
//!
//! An actor that ran for five minutes without a panic begins at 1 again.

use std::time::{Duration, Instant};

/// What an actor has to be without a panic for the earlier ones to be forgotten.
const QUIET: Duration = Duration::from_mins(5);

/// So many restarts follow each other. The next panic is one too many.
const MOST: u32 = 5;

const FIRST_DELAY: Duration = Duration::from_secs(1);
const FIRST_PAUSE: Duration = Duration::from_mins(5);
const LONGEST_PAUSE: Duration = Duration::from_hours(1);

/// The panics of one actor that follow each other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Restarts {
    panics: u32,
    /// When the last restart is or was.
    restarted: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restart {
    After(Duration),
    /// It is not restarted for now: so many panics followed each other.
    GiveUp {
        panics: u32,
        again_in: Duration,
    },
}

impl Restarts {
    pub(crate) fn panicked(&mut self, now: Instant) -> Restart {
        let is_quiet = |at: Instant| now.saturating_duration_since(at) >= QUIET;
        if self.restarted.is_none_or(is_quiet) {
            self.panics = 0;
        }
        self.panics = self.panics.saturating_add(1);
        let restart = match self.panics {
            0 | 1 => Restart::After(Duration::ZERO),
            panics @ 2..=MOST => Restart::After(FIRST_DELAY * (1 << (panics - 2))),
            panics => {
                let doublings = (panics - MOST - 1).min(8);
                let again_in = (FIRST_PAUSE * (1 << doublings)).min(LONGEST_PAUSE);
                Restart::GiveUp { panics, again_in }
            }
        };
        self.restarted = now.checked_add(restart.delay());
        restart
    }
}

impl Restart {
    pub(crate) fn delay(self) -> Duration {
        match self {
            Self::After(delay) => delay,
            Self::GiveUp { again_in, .. } => again_in,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The delays in seconds of these panics, each so many seconds after the restart before.
    fn delays(after: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let (mut restarts, mut now) = (Restarts::default(), Instant::now());
        let panic = |seconds| {
            now += Duration::from_secs(seconds);
            let delay = restarts.panicked(now).delay();
            now += delay;
            delay.as_secs()
        };
        after.into_iter().map(panic).collect()
    }

    #[test]
    fn panics_that_follow_each_other_have_longer_delays() {
        assert_eq!(delays([1; 5]), [0, 1, 2, 4, 8]);
        assert_eq!(delays([299; 5]), [0, 1, 2, 4, 8]);
    }

    #[test]
    fn after_too_many_there_are_pauses_up_to_the_longest() {
        assert_eq!(delays([1; 11])[5..], [300, 600, 1200, 2400, 3600, 3600]);
        let mut restarts = Restarts::default();
        let now = Instant::now();
        (0..MOST).for_each(|_| _ = restarts.panicked(now));
        let again_in = FIRST_PAUSE;
        assert_eq!(restarts.panicked(now), Restart::GiveUp { panics: 6, again_in });
        (0..1000).for_each(|_| _ = restarts.panicked(now));
        assert_eq!(restarts.panicked(now).delay(), LONGEST_PAUSE);
    }

    #[test]
    fn five_minutes_without_a_panic_end_the_count() {
        assert_eq!(delays([1, 1, 300, 1]), [0, 1, 0, 1]);
        assert_eq!(delays([1, 1, 1, 1, 1, 1, 300]), [0, 1, 2, 4, 8, 300, 0]);
    }
}
