//! The Events that were sent about one parent, so that they are not repeated. Small: contents are hashes, and
//! rare parts are allocated only when used.

use std::collections::BTreeSet;

use super::series::EventLog;
use crate::{journal::PausedBy, object::K8sType};

#[derive(Debug, Default)]
pub(crate) struct Announced {
    /// The pause that was announced; `None` before the first reconcile.
    pub(super) pause: Option<AnnouncedPause>,
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
    /// A hash of the last message about altered children.
    pub(super) altered: Option<u64>,
    /// A hash of the last message about fields that others hold.
    pub(super) contested: Option<u64>,
    pub(super) unsynced: BTreeSet<K8sType>,
    /// The annotation value that was announced as not pausing.
    pub(super) pause_value: Option<Box<str>>,
}

impl From<Option<PausedBy>> for AnnouncedPause {
    fn from(by: Option<PausedBy>) -> Self {
        by.map_or(Self::Over, Self::By)
    }
}

impl Announced {
    pub(super) fn rare(&mut self) -> Option<&mut Rare> {
        self.rare.as_deref_mut()
    }

    pub(super) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Frees parts that are no longer used.
    pub(crate) fn shrink(&mut self) {
        let is_over = |rare: &Rare| {
            let Rare { log, altered, contested, unsynced, pause_value } = rare;
            log.is_none()
                && altered.is_none()
                && contested.is_none()
                && unsynced.is_empty()
                && pause_value.is_none()
        };
        if self.rare.as_deref().is_some_and(is_over) {
            self.rare = None;
        }
    }
}
