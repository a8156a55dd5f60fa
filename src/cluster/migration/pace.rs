//! How fast objects are written.

use std::{
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

/// At most so many turns in a second, for all who have a copy of it together.
#[derive(Debug, Clone)]
pub(crate) struct Pace {
    gap: Duration,
    next: Arc<Mutex<Instant>>,
}

impl Pace {
    pub(crate) fn per_second(turns: NonZeroU32) -> Self {
        let gap = Duration::from_secs(1) / turns.get();
        Self { gap, next: Arc::new(Mutex::new(Instant::now())) }
    }

    /// Returns when it is the turn of the caller. Turns that nobody took are not made up for.
    pub(super) async fn turn(&self) {
        sleep_until(self.take(Instant::now())).await;
    }

    fn take(&self, now: Instant) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let at = (*next).max(now);
        *next = at + self.gap;
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_apart_and_those_that_nobody_took_are_lost() {
        let pace = Pace::per_second(NonZeroU32::new(20).unwrap());
        let (gap, copy) = (Duration::from_millis(50), pace.clone());
        let first = pace.take(Instant::now());
        assert_eq!(copy.take(first), first + gap);
        assert_eq!(pace.take(first), first + 2 * gap);
        let later = first + Duration::from_secs(9);
        assert_eq!(pace.take(later), later);
        assert_eq!(copy.take(later), later + gap);
    }
}
