//! Announces changes: by Events about the parent, and in the log.

use std::time::{Instant, SystemTime};

use super::Context;
use crate::{
    journal::Failure,
    object::{Object, OneLine},
    plan::{ChildId, UndeclaredField, WantedBy},
    reply::{EventKind, IfKnown, ParentEvent, Regarding},
    report::{
        Announced, Announcement, Author, EventLog, EventToSend, Occurrence, Report, number_of,
        once_per_operator, problem, undeclared,
    },
};

impl Context {
    /// Sends the Events about a parent, and logs new Warnings.
    pub(super) fn announce(
        &self,
        parent: &Object,
        announcements: Vec<Announcement>,
        announced: &mut Announced,
    ) {
        for Announcement { kind, reason, message, by } in announcements {
            let event = (kind, &*reason, message.clone());
            let log = announced.log(by, Instant::now());
            if self.announce_event(&Regarding::from(parent), event, by, log)
                && kind == EventKind::Warning
            {
                let (operator, parent, reason) = (self.name(), parent.key(), &*reason);
                tracing::warn!(%operator, %parent, reason, "{}", OneLine(message));
            }
        }
    }

    pub(super) fn announce_failure(
        &self,
        parent: &Object,
        failure: &Failure,
        announced: &mut Announced,
    ) {
        self.announce(
            parent,
            vec![Announcement::of_failure(
                failure,
                &problem::of_one_failure(failure, &ChildId::of(parent)),
            )],
            announced,
        );
    }

    pub(super) fn warn_once(&self, parent: &Object, report: &Report) {
        for Announcement { kind, reason, message, by: _ } in once_per_operator(report) {
            if self.warned.is_due(&message) {
                tracing::warn!(operator = %self.name(), "{}", OneLine(&message));
                self.announce_once(parent, (kind, &reason, message));
            }
        }
    }

    /// Counts and logs what was beyond the limits of the metrics of the handler.
    pub(super) fn count_overflow(&self) {
        for what in self.metrics().overflowed(self.name(), &self.handler_metrics) {
            tracing::warn!(operator = %self.name(), "{what}");
        }
    }

    pub(super) fn note_undeclared(&self, fields: &[UndeclaredField]) {
        let new: Vec<_> = fields.iter().filter(|field| self.undeclared.add(field)).collect();
        if new.is_empty() {
            return;
        }
        let message = OneLine(undeclared(&self.config().parent, &new));
        if new.iter().any(|field| field.wanted_by == WantedBy::Handler) {
            tracing::warn!(operator = %self.name(), "{message}");
        } else {
            tracing::info!(operator = %self.name(), "{message}");
        }
    }

    /// Sends an Event that is sent once per operator.
    pub(super) fn announce_once(&self, parent: &Object, event: (EventKind, &str, String)) {
        let about = Regarding::from(parent);
        let name = new_name(&about, number_of(&(event.1, &event.2)));
        let to_send = EventToSend { name, count: 1, is_combined: false };
        self.send_event(&about, event, to_send, IfKnown::Keep);
    }

    /// Sends an Event within the rate limit; returns whether it is new.
    pub(super) fn announce_event(
        &self,
        about: &Regarding,
        (kind, reason, message): (EventKind, &str, String),
        by: Author,
        log: &mut EventLog,
    ) -> bool {
        let is_warning = kind == EventKind::Warning;
        let similar = number_of(&(about, is_warning, reason));
        let what = number_of(&(similar, &message));
        let name = match by {
            // The same in each process, so that a restart does not write it again.
            Author::Handler { .. } => number_of(&(self.name().as_str(), what)),
            Author::Framework => new_name(about, what),
        };
        let occurrence = Occurrence { what, similar, is_warning, name };
        let (to_send, is_allowed) = log.occurred(occurrence, Instant::now());
        if is_allowed {
            self.send_event(about, (kind, reason, message), to_send, if_known(by));
        }
        to_send.count == 1 || to_send.is_combined
    }

    fn send_event(
        &self,
        about: &Regarding,
        (kind, reason, mut message): (EventKind, &str, String),
        EventToSend { name, count, is_combined }: EventToSend,
        if_known: IfKnown,
    ) {
        if is_combined {
            message.insert_str(0, "(combined from similar events): ");
        }
        let (reason, at) = (reason.to_owned(), SystemTime::now());
        let event = ParentEvent { kind, reason, message, name, count, at, if_known };
        let work = self.metrics().activity().begin();
        self.events().send(&self.parts.cluster, self.name(), (about, event), work);
    }
}

/// What a first response has may have been recorded by an earlier process.
fn if_known(by: Author) -> IfKnown {
    match by {
        Author::Handler { is_first: false } => IfKnown::CountUp,
        Author::Handler { is_first: true } | Author::Framework => IfKnown::Keep,
    }
}

fn new_name(about: &Regarding, what: u64) -> u64 {
    number_of(&(about, what, SystemTime::now()))
}
