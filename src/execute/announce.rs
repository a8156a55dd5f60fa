//! Announces what is news: by Events about the parent, and in the log.

use std::time::Instant;

use super::Context;
use crate::{
    cluster::{EventKind, Regarding},
    journal::{Fact, Failure},
    object::Object,
    report::{Announced, News, once},
};

impl Context {
    /// Announces what is news of a parent.
    pub(super) fn announce(&self, parent: &Object, news: Vec<News>, announced: &mut Announced) {
        for News { kind, reason, message } in news {
            let event = (kind, reason, message.clone());
            let log = announced.log(Instant::now());
            if self.tell_about(&Regarding::from(parent), event, log) && kind == EventKind::Warning {
                let (operator, parent) = (self.name(), parent.key());
                tracing::warn!(%operator, %parent, reason, "{message}");
            }
        }
    }

    /// Announces a failure while its reconcile continues.
    pub(super) fn announce_failure(
        &self,
        parent: &Object,
        failure: &Failure,
        announced: &mut Announced,
    ) {
        self.announce(parent, vec![News::of_failure(failure)], announced);
    }

    /// Says what is said once for the operator, whichever parent it happens to.
    pub(super) fn warn_once(&self, parent: &Object, facts: &[Fact]) {
        for once in once(facts, parent.ty()) {
            if self.warned().is_due(&once.message) {
                tracing::warn!(operator = %self.name(), "{}", once.message);
                if let Some(reason) = once.reason {
                    self.tell_once(parent, (once.kind, reason, once.message));
                }
            }
        }
    }
}
