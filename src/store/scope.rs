//! What is known of one watch that feeds a store.

use crate::object::ResourceVersion;

/// A time in which nothing is deleted, as the server went back to an earlier version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold(pub(super) u64);

/// One of the watches that feed a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScopeId(pub(super) usize);

/// The moment before a list was asked for: what a server that goes on from there can no longer say.
#[derive(Debug, Clone)]
pub struct ListStart {
    /// The clock: the list outdates the tombstones from before.
    pub(super) clock: u64,
    /// The newest version that a reply had shown: no list that is asked for later is older.
    pub(super) replied: Option<ResourceVersion>,
}

/// How a list was taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// The store continues from it.
    Continued,
    /// Its version is below what the scope or a reply had shown, or that of one of its objects below
    /// what was known of it, or that of a look before it was: the server was restored from a backup.
    /// It replaced everything, and deletions in the scope are held until
    /// [`super::Store::release_deletions`] of [`super::Store::hold`]. There may be a later hold by
    /// the time that this is heard of.
    VersionRegressed,
}

/// What the server has shown to one scope: a list from before is of a server that went back.
#[derive(Debug, Clone)]
pub(super) struct Marks {
    seen: Settled,
    high_water: Option<ResourceVersion>,
    replied: Option<ResourceVersion>,
}

/// Who tells a scope what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Feed {
    /// Its watch, as far as is known.
    Watch,
    /// It is known that nobody does.
    CutOff,
    /// The watch of another one, which covers its namespace too.
    Another,
}

/// The state of one scope.
#[derive(Debug)]
pub(super) struct Scope {
    /// The namespace it covers; `None` for all.
    pub(super) namespace: Option<String>,
    pub(super) feed: Feed,
    pub(super) is_synced: bool,
    /// What the next list will come to, as far as a look at the server has shown.
    pub(super) seen: Settled,
    /// A time in which nothing is deleted of it.
    pub(super) hold: Option<Hold>,
    /// Whether its list showed every object by name, those that cannot be read too.
    pub(super) shows_all: bool,
    /// The newest version that its watch or list has shown.
    pub(super) high_water: Option<ResourceVersion>,
    /// The newest version that a reply has shown, which no watch need have told yet.
    pub(super) replied: Option<ResourceVersion>,
}

impl Scope {
    pub(super) fn new(namespace: Option<String>) -> Self {
        let (is_synced, hold, shows_all, high_water, replied) = <_>::default();
        let (feed, seen) = (Feed::Watch, Settled::Continued);
        Self { namespace, feed, is_synced, seen, hold, shows_all, high_water, replied }
    }

    /// Begins anew in the place of another one, and knows from it whether a server went back.
    pub(super) fn use_fallback(&mut self, other: &Marks) {
        let Marks { seen, high_water, replied } = other.clone();
        let (namespace, hold) = (self.namespace.take(), self.hold);
        *self = Self { seen, hold, high_water, replied, ..Self::new(namespace) };
    }

    pub(super) fn marks(&self) -> Marks {
        let (high_water, replied) = (self.high_water.clone(), self.replied.clone());
        Marks { seen: self.seen, high_water, replied }
    }

    pub(super) fn covers(&self, namespace: Option<&str>) -> bool {
        self.namespace.is_none() || self.namespace.as_deref() == namespace
    }

    pub(super) fn advance(&mut self, version: &ResourceVersion) {
        raise(&mut self.high_water, version);
    }

    pub(super) fn is_behind(&self, version: &ResourceVersion) -> bool {
        self.high_water.as_ref().is_some_and(|mark| version.is_older_than(mark))
    }

    /// Whether all that happened up to a version, and at it, was shown.
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
