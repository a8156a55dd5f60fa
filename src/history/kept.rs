//! The last reconciles of a parent.

use std::{collections::VecDeque, sync::Arc, time::SystemTime};

use super::Reconcile;

/// The last reconciles of one parent. Cheap to clone: reconciles are shared.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The newest is last.
    reconciles: VecDeque<Arc<Reconcile>>,
    recorded: u64,
    /// Stored separately: a parent that waits for hours has more reconciles than are kept.
    since: Option<SystemTime>,
}

/// The most reconciles kept. For ten thousand parents they take some tens of megabytes.
const MAX_RECONCILES: usize = 10;

/// The newest that are always kept.
const NEWEST: usize = 3;

impl History {
    /// Adds a reconcile that has ended, numbers it, and drops one beyond the bound.
    pub(crate) fn record(&mut self, reconcile: Reconcile) -> Arc<Reconcile> {
        self.recorded += 1;
        let mut reconcile = Reconcile { number: self.recorded, ..reconcile.bounded() };
        if self.last().is_none_or(|last| last.outcome.name() != reconcile.outcome.name()) {
            self.since = Some(reconcile.started);
        }
        if let Some(last) = self.last() {
            reconcile.share_with(last);
        }
        let reconcile = Arc::new(reconcile);
        self.reconciles.push_back(reconcile.clone());
        if self.reconciles.len() > MAX_RECONCILES {
            self.reconciles.remove(self.least_informative());
        }
        reconcile
    }

    /// The oldest reconcile that wrote nothing and had the same result as the next; else the oldest. So rechecks
    /// do not displace a reconcile that wrote.
    fn least_informative(&self) -> usize {
        let older = self.reconciles.len().saturating_sub(NEWEST);
        let mut pairs = self.reconciles.iter().zip(self.reconciles.iter().skip(1)).take(older);
        pairs.position(|(reconcile, next)| reconcile.is_repeated_by(next)).unwrap_or(0)
    }

    /// The kept reconciles, the newest first.
    pub fn newest_first(&self) -> impl ExactSizeIterator<Item = &Arc<Reconcile>> {
        self.reconciles.iter().rev()
    }

    /// The newest reconcile.
    pub fn last(&self) -> Option<&Arc<Reconcile>> {
        self.reconciles.back()
    }

    /// The number of reconciles ever recorded.
    pub fn recorded(&self) -> u64 {
        self.recorded
    }

    /// Since when the outcome is the same; `None` before the first.
    pub(crate) fn since(&self) -> Option<SystemTime> {
        self.since
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::history::{Decided, Decision, FailureKind, Outcome, Verb, WriteRecord};

    fn reconcile(outcome: Outcome) -> Reconcile {
        Reconcile::new(SystemTime::UNIX_EPOCH, Duration::ZERO, outcome)
    }

    fn writing(child: &str) -> Reconcile {
        let (child, paths) = (child.to_owned(), Vec::new());
        let record = WriteRecord { child, verb: Verb::Updated, paths, drift: None };
        Reconcile { decisions: [Decision::from(record)].into(), ..reconcile(Outcome::Wrote) }
    }

    fn numbers(history: &History) -> Vec<u64> {
        history.newest_first().map(|reconcile| reconcile.number).collect()
    }

    #[test]
    fn only_the_last_reconciles_are_kept_and_numbers_continue() {
        let mut history = History::default();
        for _ in 0..25 {
            history.record(reconcile(Outcome::Ready));
        }
        assert_eq!(numbers(&history), (16..=25).rev().collect::<Vec<_>>());
        assert_eq!(history.recorded(), 25);
        assert!(size_of::<History>() <= 56, "there is one per parent");
    }

    #[test]
    fn a_reconcile_that_wrote_is_kept_longer_than_rechecks() {
        let mut history = History::default();
        history.record(writing("a"));
        let with_status = || Reconcile { wrote_status: true, ..reconcile(Outcome::Ready) };
        history.record(with_status());
        for _ in 0..30 {
            history.record(reconcile(Outcome::Ready));
        }
        assert_eq!(numbers(&history), [32, 31, 30, 29, 28, 27, 26, 25, 2, 1]);
        for child in ["b", "c", "d", "e", "f", "g", "h", "i"] {
            history.record(writing(child));
        }
        assert_eq!(numbers(&history), [40, 39, 38, 37, 36, 35, 34, 33, 32, 2], "bounded");
        for _ in 0..3 {
            history.record(reconcile(Outcome::Ready));
        }
        let newest_stay = [43, 42, 41, 40, 39, 38, 37, 36, 35, 34];
        assert_eq!(numbers(&history), newest_stay, "the newest stay, then the oldest is dropped");
    }

    #[test]
    fn since_is_the_start_of_the_first_reconcile_with_the_same_outcome() {
        let at = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let mut history = History::default();
        assert_eq!(history.since(), None);
        history.record(reconcile(Outcome::Ready));
        for number in 1..=30 {
            history.record(Reconcile { started: at(10 * number), ..reconcile(Outcome::Waiting) });
        }
        assert_eq!(history.since(), Some(at(10)), "which is no longer kept");
        let reason = FailureKind::WriteFailed;
        for (seconds, message) in [(400, "x"), (410, "y")] {
            let outcome = Outcome::Failed { reason, message: message.into() };
            history.record(Reconcile { started: at(seconds), ..reconcile(outcome) });
        }
        assert_eq!(history.since(), Some(at(400)));
    }

    #[test]
    fn equal_reconciles_in_a_row_share_their_texts() {
        let failing = |child: &str| {
            let message = format!("no answer about {child}").into();
            let mut failed =
                reconcile(Outcome::Failed { reason: FailureKind::WriteFailed, message });
            let why = "no answer".to_owned();
            failed.decisions = [Decision::stuck(child, Decided::Failed, why)].into();
            failed.message = Some(child.into());
            failed
        };
        let mut history = History::default();
        let texts = |reconcile: &Reconcile| {
            let error = reconcile.error().unwrap().as_ptr();
            (reconcile.decisions.as_ptr(), error, reconcile.message.as_ref().unwrap().as_ptr())
        };
        let [first, second, other] = ["a", "a", "b"].map(|child| history.record(failing(child)));
        assert_eq!(texts(&first), texts(&second));
        assert_eq!(first.decisions, second.decisions);
        assert_eq!((other.error(), &*other.decisions[0].child), (Some("no answer about b"), "b"));
    }
}
