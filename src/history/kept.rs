//! The last runs of a parent.

use std::{collections::VecDeque, sync::Arc, time::SystemTime};

use super::Reconcile;

/// The last runs of one parent. Cheap to clone: runs are shared.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The newest is last.
    reconciles: VecDeque<Arc<Reconcile>>,
    recorded: u64,
    /// Not from the reconciles: one that waits for hours has many more than are kept.
    since: Option<SystemTime>,
}

/// As many reconciles are kept. Ten thousand parents times this fit in some tens of megabytes.
const MAX_RECONCILES: usize = 10;

/// As many of the newest are kept whatever they say.
const NEWEST: usize = 3;

impl History {
    /// Adds a reconcile that has ended, gives it its number, and drops one beyond the bound.
    pub fn record(&mut self, run: Reconcile) -> Arc<Reconcile> {
        self.recorded += 1;
        let mut run = Reconcile { number: self.recorded, ..run.bounded() };
        if self.last().is_none_or(|last| last.outcome.name() != run.outcome.name()) {
            self.since = Some(run.started);
        }
        if let Some(last) = self.last() {
            run.share_with(last);
        }
        let run = Arc::new(run);
        self.reconciles.push_back(run.clone());
        if self.reconciles.len() > MAX_RECONCILES {
            self.reconciles.remove(self.least_telling());
        }
        run
    }

    /// The oldest run that wrote nothing and came to the same as the next one, so that those which
    /// only look again do not push out the one that wrote; else the oldest.
    fn least_telling(&self) -> usize {
        let older = self.reconciles.len().saturating_sub(NEWEST);
        let mut pairs = self.reconciles.iter().zip(self.reconciles.iter().skip(1)).take(older);
        pairs.position(|(run, next)| run.is_repeated_by(next)).unwrap_or(0)
    }

    /// The kept reconciles, the newest first.
    pub fn newest_first(&self) -> impl ExactSizeIterator<Item = &Arc<Reconcile>> {
        self.reconciles.iter().rev()
    }

    /// The newest run.
    pub fn last(&self) -> Option<&Arc<Reconcile>> {
        self.reconciles.back()
    }

    /// How many reconciles were ever recorded.
    pub fn recorded(&self) -> u64 {
        self.recorded
    }

    /// Since when the reconciles have come to the same; `None` before the first.
    pub fn since(&self) -> Option<SystemTime> {
        self.since
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::history::{Decided, Decision, FailureKind, Outcome, Verb, WriteRecord};

    fn run(outcome: Outcome) -> Reconcile {
        Reconcile::new(SystemTime::UNIX_EPOCH, Duration::ZERO, outcome)
    }

    fn writing(child: &str) -> Reconcile {
        let (child, paths) = (child.to_owned(), Vec::new());
        let record = WriteRecord { child, verb: Verb::Updated, paths, drift: None };
        Reconcile { decisions: [Decision::from(record)].into(), ..run(Outcome::Wrote) }
    }

    fn numbers(history: &History) -> Vec<u64> {
        history.newest_first().map(|run| run.number).collect()
    }

    #[test]
    fn only_the_last_reconciles_are_kept_and_numbers_go_on() {
        let mut history = History::default();
        for _ in 0..25 {
            history.record(run(Outcome::Synced));
        }
        assert_eq!(numbers(&history), (16..=25).rev().collect::<Vec<_>>());
        assert_eq!(history.recorded(), 25);
        assert!(size_of::<History>() <= 56, "there are as many as parents");
    }

    #[test]
    fn what_was_written_outlasts_the_reconciles_that_look_again() {
        let mut history = History::default();
        history.record(writing("a"));
        let told = || Reconcile { wrote_status: true, ..run(Outcome::Synced) };
        history.record(told());
        for _ in 0..30 {
            history.record(run(Outcome::Synced));
        }
        assert_eq!(numbers(&history), [32, 31, 30, 29, 28, 27, 26, 25, 2, 1]);
        for child in ["b", "c", "d", "e", "f", "g", "h", "i"] {
            history.record(writing(child));
        }
        assert_eq!(numbers(&history), [40, 39, 38, 37, 36, 35, 34, 33, 32, 2], "bounded");
        for _ in 0..3 {
            history.record(run(Outcome::Synced));
        }
        let newest_stay = [43, 42, 41, 40, 39, 38, 37, 36, 35, 34];
        assert_eq!(numbers(&history), newest_stay, "the newest stay, and then the oldest goes");
    }

    #[test]
    fn it_has_stood_so_since_the_first_reconcile_of_the_same_kind() {
        let at = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let mut history = History::default();
        assert_eq!(history.since(), None);
        history.record(run(Outcome::Synced));
        for number in 1..=30 {
            history.record(Reconcile { started: at(10 * number), ..run(Outcome::Waiting) });
        }
        assert_eq!(history.since(), Some(at(10)), "which is no longer kept");
        let reason = FailureKind::WriteFailed;
        for (seconds, message) in [(400, "x"), (410, "y")] {
            let outcome = Outcome::Failed { reason, message: message.into() };
            history.record(Reconcile { started: at(seconds), ..run(outcome) });
        }
        assert_eq!(history.since(), Some(at(400)));
    }

    #[test]
    fn runs_in_a_row_that_say_the_same_share_their_words() {
        let failing = |child: &str| {
            let message = format!("no answer about {child}").into();
            let mut run = run(Outcome::Failed { reason: FailureKind::WriteFailed, message });
            let why = "no answer".to_owned();
            run.decisions = [Decision::stuck(child, Decided::Failed, why)].into();
            run.message = Some(child.into());
            run
        };
        let mut history = History::default();
        let words = |run: &Reconcile| {
            let error = run.error().unwrap().as_ptr();
            (run.decisions.as_ptr(), error, run.message.as_ref().unwrap().as_ptr())
        };
        let [first, second, other] = ["a", "a", "b"].map(|child| history.record(failing(child)));
        assert_eq!(words(&first), words(&second));
        assert_eq!(first.decisions, second.decisions);
        assert_eq!((other.error(), &*other.decisions[0].child), (Some("no answer about b"), "b"));
    }
}
