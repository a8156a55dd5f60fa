//! What was announced about one parent by Events, so that it is not announced again. Small: contents are
//! hashes, and what most parents have nothing of takes no room.

use std::collections::BTreeSet;

use super::series::EventLog;
use crate::{journal::PausedBy, object::K8sType};

/// What was announced about one parent.
#[derive(Debug, Default)]
pub struct Announced {
    /// The pause that was announced; `None` before the first reconcile.
    pub(super) pause: Option<AnnouncedPause>,
    rare: Option<Box<Rare>>,
}

/// A pause that was announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnnouncedPause {
    /// None is, or it is over.
    Over,
    /// It is not over.
    By(PausedBy),
}

/// What most parents have nothing of.
#[derive(Debug, Default)]
pub(super) struct Rare {
    /// The Events about it; `None` when there was never one.
    pub(super) log: Option<EventLog>,
    /// A hash of what was last said of what the server makes of children.
    pub(super) altered: Option<u64>,
    /// A hash of what was last said of fields that others hold.
    pub(super) contested: Option<u64>,
    /// The types that were said to keep deletions waiting, and do.
    pub(super) unsynced: BTreeSet<K8sType>,
    /// A value of the annotation that was said to pause nothing.
    pub(super) pause_value: Option<Box<str>>,
}

impl From<Option<PausedBy>> for AnnouncedPause {
    fn from(by: Option<PausedBy>) -> Self {
        by.map_or(Self::Over, Self::By)
    }
}

impl Announced {
    /// What is rare, if there is any.
    pub(super) fn rare(&mut self) -> Option<&mut Rare> {
        self.rare.as_deref_mut()
    }

    /// What is rare, to put something in.
    pub(super) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// The types that were said to keep deletions waiting.
    #[cfg(test)]
    pub(crate) fn unsynced(&self) -> BTreeSet<K8sType> {
        self.rare.as_ref().map(|rare| rare.unsynced.clone()).unwrap_or_default()
    }

    /// As if a type were said to keep deletions waiting.
    #[cfg(test)]
    pub(crate) fn wait_for(&mut self, ty: K8sType) {
        self.rare_mut().unsynced.insert(ty);
    }

    /// Takes no room for what is over.
    pub fn shrink(&mut self) {
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
