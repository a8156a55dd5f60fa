//! A handler that is past its deadline is counted until it returns.

use std::time::Instant;

use super::Context;

/// A handler that is past its deadline, until it is dropped.
#[derive(Debug)]
pub(super) struct Hanging<'a> {
    context: &'a Context,
    called: Instant,
}

impl Context {
    /// Counts a handler that has not returned in time, until it has.
    pub(super) fn hangs(&self, called: Instant) -> Hanging<'_> {
        self.metrics().handlers_overdue(self.name(), self.overdue().begin(called));
        Hanging { context: self, called }
    }

    /// Why nothing is reconciled, while handlers that do not return hold every place.
    pub fn held_up(&self, now: Instant) -> Option<String> {
        self.overdue().holds_up(self.config().max_concurrent_reconciles, now)
    }
}

impl Drop for Hanging<'_> {
    fn drop(&mut self) {
        let context = self.context;
        context.metrics().handlers_overdue(context.name(), context.overdue().end(self.called));
    }
}
