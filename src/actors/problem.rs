//! A failure, and since when: a short failure is normal, a lasting one is not. Pure.

use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub(super) struct Problem {
    why: Option<String>,
    /// When it began.
    since: Option<Instant>,
}

impl Problem {
    /// The last attempt failed for this reason, or succeeded.
    pub(super) fn set(&mut self, why: Option<String>, now: Instant) {
        self.since = why.is_some().then(|| self.since.unwrap_or(now));
        self.why = why;
    }

    pub(super) fn why(&self) -> Option<&String> {
        self.why.as_ref()
    }

    /// Whether it has lasted for so long.
    pub(super) fn lasts(&self, time: Duration, now: Instant) -> bool {
        self.since.is_some_and(|since| now.saturating_duration_since(since) >= time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_lasts_from_its_first_failure_to_the_next_success() {
        let (start, minute) = (Instant::now(), Duration::from_mins(1));
        let mut problem = Problem::default();
        assert!(!problem.lasts(Duration::ZERO, start));
        problem.set(Some("no".to_owned()), start);
        problem.set(Some("never".to_owned()), start + minute);
        assert_eq!(problem.why().map(String::as_str), Some("never"));
        assert!(problem.lasts(minute, start + minute));
        problem.set(None, start + minute);
        problem.set(Some("no".to_owned()), start + minute);
        assert!(!problem.lasts(minute, start + minute));
    }
}
