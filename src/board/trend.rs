//! How busy an operator was in the last five minutes: a point every five seconds.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use crate::history::History;

/// A point of a trend: what was measured since the point before it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct TrendPoint {
    /// Reconciles that ended, per second.
    pub(crate) reconciles: f64,
    /// Reconciles that failed, per second.
    pub(crate) errors: f64,
    /// How many parents waited for a permit.
    pub(crate) waiting: usize,
    /// The mean duration of the reconciles that ended.
    pub(crate) mean: Duration,
}

#[derive(Debug, Default)]
pub(super) struct Trend {
    /// The newest is last.
    points: VecDeque<TrendPoint>,
    counted: Counted,
    sampled: Option<Instant>,
}

/// Since the last point.
#[derive(Debug, Default, Clone, Copy)]
struct Counted {
    reconciles: u32,
    errors: u32,
    took: Duration,
}

/// Five minutes.
pub(crate) const TREND_POINTS: usize = 60;

impl Trend {
    /// Counts the reconciles of a parent after this number.
    pub(super) fn count(&mut self, history: &History, number: u64) {
        for reconcile in history.newest_first().take_while(|it| it.number > number) {
            let counted = &mut self.counted;
            counted.reconciles += 1;
            counted.errors += u32::from(reconcile.error().is_some());
            counted.took += reconcile.duration;
        }
    }

    /// Adds a point. The first sample is only where the first point begins.
    pub(super) fn sample(&mut self, waiting: usize, now: Instant) {
        let counted = std::mem::take(&mut self.counted);
        let Some(before) = self.sampled.replace(now) else { return };
        let seconds = now.saturating_duration_since(before).as_secs_f64();
        if seconds <= 0.0 {
            return;
        }
        if self.points.len() == TREND_POINTS {
            self.points.pop_front();
        }
        self.points.push_back(TrendPoint {
            reconciles: f64::from(counted.reconciles) / seconds,
            errors: f64::from(counted.errors) / seconds,
            waiting,
            mean: counted.took.checked_div(counted.reconciles).unwrap_or_default(),
        });
    }

    /// The oldest first.
    pub(super) fn points(&self) -> Vec<TrendPoint> {
        self.points.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::history::{FailureKind, Outcome, Reconcile};

    fn history(outcomes: &[bool]) -> History {
        let mut history = History::default();
        for is_good in outcomes {
            let (reason, message) = (FailureKind::HandlerFailed, "no".into());
            let bad = Outcome::Failed { reason, message };
            let outcome = if *is_good { Outcome::Ready } else { bad };
            let took = Duration::from_millis(20);
            history.record(Reconcile::new(SystemTime::UNIX_EPOCH, took, outcome));
        }
        history
    }

    #[test]
    fn a_point_has_the_rates_since_the_point_before() {
        let (mut trend, start) = (Trend::default(), Instant::now());
        trend.sample(9, start);
        trend.count(&history(&[true, false, true, true]), 1);
        trend.sample(2, start + Duration::from_secs(6));
        trend.sample(0, start + Duration::from_secs(11));
        let mean = Duration::from_millis(20);
        let busy = TrendPoint { reconciles: 0.5, errors: 1.0 / 6.0, waiting: 2, mean };
        assert_eq!(trend.points(), [busy, TrendPoint::default()]);
    }

    #[test]
    fn a_trend_has_the_points_of_five_minutes() {
        let (mut trend, start) = (Trend::default(), Instant::now());
        for number in 0..100 {
            trend.sample(number, start + Duration::from_secs(5 * number as u64));
        }
        let waiting: Vec<_> = trend.points().iter().map(|point| point.waiting).collect();
        assert_eq!(waiting, (40..100).collect::<Vec<_>>());
    }
}
