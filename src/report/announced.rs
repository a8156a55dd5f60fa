//! The Events that were sent about one parent, so that they are not repeated. Small: contents are hashes, and
//! rare parts are allocated only when used.

use std::{collections::BTreeSet, time::Instant};

use super::{announcement::Author, series::EventLog};
use crate::{journal::PausedBy, object::K8sType, operator::MisunderstoodPause};

#[derive(Debug, Default)]
pub(crate) struct Announced {
    /// The pause that was announced; `None` before the first reconcile.
    pub(super) pause: Option<AnnouncedPause>,
    /// Whether the handler has answered in this process.
    pub(super) has_answered: bool,
    rare: Option<Box<Rare>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnnouncedPause {
    /// No pause, or it ended.
    Over,
    /// A pause in progress.
    By(PausedBy),
}

/// Parts that most parents do not use.
#[derive(Debug, Default)]
pub(super) struct Rare {
    /// The log of the Events; `None` before the first one.
    pub(super) log: Option<EventLog>,
    /// The log of those that the handler returned, so that neither uses up the limit of the other.
    handler_log: Option<EventLog>,
    /// Those that the handler returned last.
    returned: AnnouncedEvents,
    /// A hash of the last message about altered children.
    pub(super) altered: Option<u64>,
    /// A hash of the last message about fields that others hold.
    pub(super) contested: Option<u64>,
    /// A hash of the last message about children that finalizers keep.
    pub(super) blocked: Option<u64>,
    pub(super) unsynced: BTreeSet<K8sType>,
    /// What was announced as not understood of the annotation.
    pub(super) pause_value: Option<MisunderstoodPause>,
}

/// Hashes of Events that a handler returned, and that were sent.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct AnnouncedEvents {
    /// Of the last response that did not lead to a failure.
    pub(super) lasting: Box<[u64]>,
    /// Of the failures since then: of the last one.
    pub(super) of_failure: Box<[u64]>,
}

impl From<Option<PausedBy>> for AnnouncedPause {
    fn from(by: Option<PausedBy>) -> Self {
        by.map_or(Self::Over, Self::By)
    }
}

impl Announced {
    /// The log of the Events of an author.
    pub(crate) fn log(&mut self, by: Author, now: Instant) -> &mut EventLog {
        let rare = self.rare_mut();
        let log = match by {
            Author::Framework => &mut rare.log,
            Author::Handler { .. } => &mut rare.handler_log,
        };
        log.get_or_insert_with(|| EventLog::new(now))
    }

    pub(super) fn returned(&self) -> Option<&AnnouncedEvents> {
        self.rare.as_ref().map(|rare| &rare.returned)
    }

    pub(super) fn remember(&mut self, returned: AnnouncedEvents) {
        if self.rare.is_some() || returned != AnnouncedEvents::default() {
            self.rare_mut().returned = returned;
        }
    }

    pub(super) fn rare(&mut self) -> Option<&mut Rare> {
        self.rare.as_deref_mut()
    }

    pub(super) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Frees parts that are no longer used.
    pub(crate) fn shrink(&mut self) {
        let is_over = |rare: &Rare| {
            let Rare { log, handler_log, returned, altered, contested, blocked, .. } = rare;
            let Rare { unsynced, pause_value, .. } = rare;
            log.is_none()
                && handler_log.is_none()
                && *returned == AnnouncedEvents::default()
                && altered.is_none()
                && contested.is_none()
                && blocked.is_none()
                && unsynced.is_empty()
                && pause_value.is_none()
        };
        if self.rare.as_deref().is_some_and(is_over) {
            self.rare = None;
        }
    }
}
