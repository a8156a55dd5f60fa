//! The Events that a handler returned: which of them are news.
//!
//! A handler is called often and returns what holds. So an Event is sent once for as long as the following
//! responses have it too, and a later occurrence counts up its series.

use super::{Announced, Announcement, announced::AnnouncedEvents, number_of};
use crate::{
    journal::{End, Progress, ReturnedEvent},
    reply::EventKind,
};

/// The Events of one response.
#[derive(Debug, Default)]
pub(super) struct Returned {
    pub(super) events: Vec<ReturnedEvent>,
    /// Whether the handler was called, and its response counts.
    pub(super) has_answered: bool,
    /// Whether it returned them for an error of its own: nothing was written.
    pub(super) of_error: bool,
    /// Whether what `Normal` Events say did not happen: a write failed or was held.
    is_unwritten: bool,
}

impl Returned {
    /// What the response means for its Events. A status that was refused does not matter.
    pub(super) fn judge(&mut self, progress: &Progress) {
        self.is_unwritten = progress.has_failed() || progress.held_writes() > 0;
        // The response was dropped because the parent has changed.
        self.has_answered &= progress.end != End::Outdated;
    }

    fn is_due(&self, event: &ReturnedEvent) -> bool {
        event.kind == EventKind::Warning || self.of_error || !self.is_unwritten
    }

    /// The Events that are news. Those of the response are remembered.
    pub(super) fn announcements(
        &self,
        has_failed: bool,
        announced: &mut Announced,
    ) -> Vec<Announcement> {
        if !self.has_answered {
            return Vec::new();
        }
        let is_first = !std::mem::replace(&mut announced.has_answered, true);
        let known = announced.returned().cloned().unwrap_or_default();
        let returned = self.events.iter().map(|event| (what(event), event));
        let (mut kept, mut news) = (Vec::new(), Vec::new());
        for (what, event) in returned {
            let is_known = known.has(what);
            if (is_known || self.is_due(event)) && !kept.contains(&what) {
                kept.push(what);
                news.extend((!is_known).then(|| Announcement::of_handler(event, is_first)));
            }
        }
        announced.remember(known.after(kept, has_failed));
        news
    }
}

impl AnnouncedEvents {
    fn has(&self, what: u64) -> bool {
        self.lasting.contains(&what) || self.of_failure.contains(&what)
    }

    /// A failure ends nothing: its response may lack what still holds.
    fn after(self, kept: Vec<u64>, has_failed: bool) -> Self {
        if has_failed {
            Self { of_failure: kept.into(), ..self }
        } else {
            Self { lasting: kept.into(), of_failure: Box::default() }
        }
    }
}

fn what(event: &ReturnedEvent) -> u64 {
    let is_warning = event.kind == EventKind::Warning;
    number_of(&(is_warning, &event.reason, event.message.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        journal::{Fact, Failure, Journal},
        object::{Quoted, Redactor},
        plan::{Flapping, LastApplied},
        report::{MemoryView, Report},
    };

    const NORMAL: EventKind = EventKind::Normal;
    const WARNING: EventKind = EventKind::Warning;

    fn returned(of_error: bool, events: &[(EventKind, &str)]) -> Fact {
        let event = |(kind, message): &(EventKind, &str)| ReturnedEvent {
            kind: *kind,
            reason: "Reason".to_owned(),
            message: Quoted::new(*message),
        };
        Fact::EventsReturned { of_error, events: events.iter().map(event).collect() }
    }

    fn answered() -> Fact {
        Fact::Answered { has_failed: false, generation: 1, is_deleting: false }
    }

    fn failed() -> Fact {
        let message = Quoted::new("no");
        Fact::Failed(Failure::Handler { message, permanent: false, retry_after: None })
    }

    /// The messages of the Events that are sent after a reconcile with these facts.
    fn sent(announced: &mut Announced, facts: Vec<Fact>) -> Vec<String> {
        let mut journal = Journal::default();
        for fact in facts {
            journal.append(fact);
        }
        let (last_applied, flapping, foreign) =
            (LastApplied::default(), Flapping::default(), <_>::default());
        let memory = MemoryView {
            last_applied: &last_applied,
            flapping: &flapping,
            deletion_guard: None,
            foreign: &foreign,
            has_deferred_wait: false,
            calms_in: None,
            is_leaving: false,
        };
        let report = Report::of(&journal, memory, &Redactor::Nothing, None);
        let news = report.returned.announcements(report.failure().is_some(), announced);
        announced.shrink();
        news.into_iter().map(|news| news.message).collect()
    }

    #[test]
    fn an_event_is_news_once_for_as_long_as_it_is_returned() {
        let announced = &mut Announced::default();
        let mut after = |events: &[(EventKind, &str)]| {
            sent(announced, vec![answered(), returned(false, events)])
        };
        assert_eq!(after(&[(NORMAL, "a"), (NORMAL, "a"), (WARNING, "b")]), ["a", "b"]);
        assert_eq!(after(&[(WARNING, "b"), (NORMAL, "a"), (WARNING, "a")]), ["a"], "another type");
        assert_eq!(after(&[(NORMAL, "a")]), [""; 0]);
        assert_eq!(after(&[]), [""; 0]);
        assert_eq!(after(&[(NORMAL, "a")]), ["a"], "it happened again");
    }

    #[test]
    fn what_did_not_happen_is_no_news_until_it_does() {
        let announced = &mut Announced::default();
        let events = || returned(false, &[(NORMAL, "a"), (WARNING, "b")]);
        assert_eq!(sent(announced, vec![answered(), events(), failed()]), ["b"]);
        assert_eq!(sent(announced, vec![answered(), events(), failed()]), [""; 0]);
        assert_eq!(sent(announced, vec![answered(), events()]), ["a"]);
        assert_eq!(sent(announced, vec![answered(), events()]), [""; 0]);
    }

    #[test]
    fn an_error_ends_no_event_and_may_have_its_own() {
        let announced = &mut Announced::default();
        let well = || vec![answered(), returned(false, &[(NORMAL, "a")])];
        let ill = || vec![answered(), returned(true, &[(NORMAL, "e")]), failed()];
        assert_eq!(sent(announced, well()), ["a"]);
        assert_eq!(sent(announced, ill()), ["e"]);
        assert_eq!(sent(announced, ill()), [""; 0]);
        assert_eq!(sent(announced, well()), [""; 0]);
        assert_eq!(sent(announced, ill()), ["e"], "another error");
    }

    #[test]
    fn a_reconcile_without_a_response_ends_no_event() {
        let announced = &mut Announced::default();
        let well = || vec![answered(), returned(false, &[(NORMAL, "a")])];
        assert_eq!(sent(announced, well()), ["a"]);
        assert_eq!(sent(announced, vec![]), [""; 0]);
        assert_eq!(sent(announced, vec![answered(), Fact::Parent(End::Outdated)]), [""; 0]);
        assert_eq!(sent(announced, well()), [""; 0]);
    }
}
