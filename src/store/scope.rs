//! The state of one watch that feeds a store.

use super::filter::Listed;
use crate::object::ResourceVersion;

/// A period without deletions, after the server went back to an earlier version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hold(pub(super) u64);

/// One of the watches that feed a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ScopeId(pub(super) usize);

/// The state before a list was requested, with which its result is compared.
#[derive(Debug, Clone)]
pub(crate) struct ListStart {
    /// The clock: the list replaces earlier tombstones.
    pub(super) clock: u64,
    /// The newest version that a reply had shown: a list that is requested later is not older.
    pub(super) replied: Option<ResourceVersion>,
    pub(super) listed: Listed,
}

impl ListStart {
    /// What the list is to contain; other objects need not be kept.
    pub(crate) fn listed(&self) -> &Listed {
        &self.listed
    }
}

/// The effect of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settled {
    /// The store continues from it.
    Continued,
    /// The list, one of its objects, or a check before it had an older version than the scope or a
    /// reply had shown: the server was restored from a backup. The list replaced everything, and
    /// deletions in the scope are held until [`super::Store::release_deletions`] of
    /// [`super::Store::hold`]. A later hold may have begun by then.
    VersionRegressed,
}

/// The newest versions that the server has shown to one scope: an older list is of a server that
/// went back.
#[derive(Debug, Clone)]
pub(super) struct Marks {
    seen: Settled,
    high_water: Option<ResourceVersion>,
    replied: Option<ResourceVersion>,
}

/// The source of a scope's events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Feed {
    /// Its watch.
    Watch,
    /// None: its watch is interrupted.
    CutOff,
    /// The watch of another scope, which covers its namespace too.
    Another,
    /// None any more: another scope has taken over, or nobody needs it.
    Ended,
}

#[derive(Debug)]
pub(super) struct Scope {
    /// The namespace it covers; `None` for all.
    pub(super) namespace: Option<String>,
    pub(super) feed: Feed,
    pub(super) is_synced: bool,
    /// What a check of the server has shown about the next list.
    pub(super) seen: Settled,
    pub(super) hold: Option<Hold>,
    /// Whether its list showed the names of all objects, including undecodable ones.
    pub(super) shows_all: bool,
    /// The newest version that its watch or list has shown.
    pub(super) high_water: Option<ResourceVersion>,
    /// The newest version that a reply has shown, perhaps before the watch.
    pub(super) replied: Option<ResourceVersion>,
    /// The scopes that end with its first list.
    pub(super) successor_of: Vec<ScopeId>,
}

impl Scope {
    pub(super) fn new(namespace: Option<String>) -> Self {
        let (is_synced, hold, shows_all, high_water, replied, successor_of) = <_>::default();
        let (feed, seen) = (Feed::Watch, Settled::Continued);
        Self {
            namespace,
            feed,
            is_synced,
            seen,
            hold,
            shows_all,
            high_water,
            replied,
            successor_of,
        }
    }

    /// Starts again as a fallback of another scope, and takes over its newest versions.
    pub(super) fn use_fallback(&mut self, other: &Marks) {
        let Marks { seen, high_water, replied } = other.clone();
        let (namespace, hold) = (self.namespace.take(), self.hold);
        let successor_of = std::mem::take(&mut self.successor_of);
        *self = Self { seen, hold, high_water, replied, successor_of, ..Self::new(namespace) };
    }

    pub(super) fn marks(&self) -> Marks {
        let (high_water, replied) = (self.high_water.clone(), self.replied.clone());
        Marks { seen: self.seen, high_water, replied }
    }

    pub(super) fn covers(&self, namespace: Option<&str>) -> bool {
        !self.is_ended() && (self.namespace.is_none() || self.namespace.as_deref() == namespace)
    }

    pub(super) fn is_ended(&self) -> bool {
        self.feed == Feed::Ended
    }

    pub(super) fn advance(&mut self, version: &ResourceVersion) {
        raise(&mut self.high_water, version);
    }

    pub(super) fn is_behind(&self, version: &ResourceVersion) -> bool {
        self.high_water.as_ref().is_some_and(|mark| version.is_older_than(mark))
    }

    /// Whether all changes up to and including a version were shown.
    pub(super) fn is_past(&self, version: &ResourceVersion) -> bool {
        let is_past = |mark: &ResourceVersion| mark == version || version.is_older_than(mark);
        self.shows_all && self.high_water.as_ref().is_some_and(is_past)
    }
}

/// Raises a mark to a version, unless it is above it.
pub(super) fn raise(mark: &mut Option<ResourceVersion>, version: &ResourceVersion) {
    *mark = Some(match mark.take() {
        Some(mark) => mark.newest(version.clone()),
        None => version.clone(),
    });
}
