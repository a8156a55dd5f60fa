//! Counts a handler past its deadline until it returns.

use std::time::Instant;

use super::Context;

/// A handler past its deadline; counted until dropped.
pub(super) struct TimedOutGuard<'a> {
    context: &'a Context,
    called: Instant,
}

impl Context {
    pub(super) fn count_timed_out(&self, called: Instant) -> TimedOutGuard<'_> {
        self.metrics().handlers_overdue(self.name(), self.timed_out.begin(called));
        TimedOutGuard { context: self, called }
    }

    pub(crate) fn why_blocked(&self, now: Instant) -> Option<String> {
        self.timed_out.why_blocked(self.config().max_concurrent_reconciles, now)
    }
}

impl Drop for TimedOutGuard<'_> {
    fn drop(&mut self) {
        let context = self.context;
        context.metrics().handlers_overdue(context.name(), context.timed_out.end(self.called));
    }
}
