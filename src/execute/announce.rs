//! Announces what is news: by Events about the parent, and in the log.

use std::time::{Instant, SystemTime};

use super::Context;
use crate::{
    journal::{Fact, Failure},
    object::Object,
    plan::WantedBy,
    reply::{EventKind, ParentEvent, Regarding},
    report::{Announced, EventLog, News, Occurrence, Telling, number_of, once, undeclared},
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

    /// Announces what is announced once for the operator, whichever parent it happens to.
    pub(super) fn warn_once(&self, parent: &Object, facts: &[Fact]) {
        for News { kind, reason, message } in once(facts) {
            if self.warned().is_due(&message) {
                tracing::warn!(operator = %self.name(), "{message}");
                self.tell_once(parent, (kind, reason, message));
            }
        }
    }

    /// Keeps what the type of the parents does not declare, and logs what is new of it.
    pub(super) fn note_undeclared(&self, facts: &[Fact]) {
        let fields = facts.iter().flat_map(|fact| match fact {
            Fact::Undeclared(fields) => fields.as_slice(),
            _ => &[],
        });
        for field in fields.filter(|field| self.undeclared().add(field)) {
            let message = undeclared(&self.config().parent, field);
            match field.wanted_by {
                WantedBy::Handler => tracing::warn!(operator = %self.name(), "{message}"),
                WantedBy::Framework => tracing::info!(operator = %self.name(), "{message}"),
            }
        }
    }

    /// Announces what is said once for an operator, whichever parent it happens to.
    pub(super) fn tell_once(&self, parent: &Object, event: (EventKind, &str, String)) {
        let about = Regarding::from(parent);
        let name = new_name(&about, number_of(&(event.1, &event.2)));
        let telling = Telling { name, count: 1, is_combined: false };
        self.send_event(&about, event, telling);
    }

    /// Announces something, unless it is too much; whether it is news.
    pub(super) fn tell_about(
        &self,
        about: &Regarding,
        (kind, reason, message): (EventKind, &str, String),
        log: &mut EventLog,
    ) -> bool {
        let is_warning = kind == EventKind::Warning;
        let similar = number_of(&(about, is_warning, reason));
        let what = number_of(&(similar, &message));
        let occurrence = Occurrence { what, similar, is_warning, name: new_name(about, what) };
        let (telling, is_allowed) = log.occurred(occurrence, Instant::now());
        if is_allowed {
            self.send_event(about, (kind, reason, message), telling);
        }
        telling.count == 1 || telling.is_combined
    }

    fn send_event(
        &self,
        about: &Regarding,
        (kind, reason, mut message): (EventKind, &str, String),
        Telling { name, count, is_combined }: Telling,
    ) {
        if is_combined {
            message.insert_str(0, "one of many such Events: ");
        }
        let (reason, at) = (reason.to_owned(), SystemTime::now());
        let event = ParentEvent { kind, reason, message, name, count, at };
        self.events().send(self.cluster(), self.name(), about, event);
    }
}

fn new_name(about: &Regarding, what: u64) -> u64 {
    number_of(&(about, what, SystemTime::now()))
}
