//! The state of one watch that feeds a store.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use super::filter::Listed;
use crate::object::ResourceVersion;

/// A period without deletions, after the server went back to an earlier version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hold(pub(super) u64);

/// One of the watches that feed a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ScopeId(u64);

/// The state before a list was requested, with which its result is compared.
#[derive(Debug, Clone)]
pub(crate) struct ListStart {
    /// The clock: the list replaces earlier tombstones.
    pub(super) clock: u64,
    /// The newest version that a reply, or a scope that this one replaces, had shown: a list that is requested later
    /// is not older.
    pub(super) shown: Option<ResourceVersion>,
    pub(super) listed: Listed,
    pub(super) replaces: bool,
}

impl ListStart {
    /// Whether the scope replaces others, which show their objects until its list is complete.
    pub(crate) fn replaces(&self) -> bool {
        self.replaces
    }

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
}

#[derive(Debug)]
pub(super) struct Scope {
    /// The namespace it covers; `None` for all.
    pub(super) namespace: Option<String>,
    /// The selector of its watch; `None` for all objects.
    pub(super) selector: Option<Arc<str>>,
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

/// The scopes that feed a store. Those that have ended are not kept.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    live: BTreeMap<ScopeId, Scope>,
    added: u64,
}

impl Scopes {
    pub(super) fn add(&mut self, scope: Scope) -> ScopeId {
        self.added += 1;
        let id = ScopeId(self.added);
        self.live.insert(id, scope);
        id
    }

    /// `None` for a scope that has ended.
    pub(super) fn get(&self, id: ScopeId) -> Option<&Scope> {
        self.live.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: ScopeId) -> Option<&mut Scope> {
        self.live.get_mut(&id)
    }

    pub(super) fn remove(&mut self, id: ScopeId) -> Option<Scope> {
        self.live.remove(&id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Scope> {
        self.live.values()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (ScopeId, &mut Scope)> {
        self.live.iter_mut().map(|(id, scope)| (*id, scope))
    }

    /// Those that were added later than one.
    pub(super) fn after(&self, id: ScopeId) -> impl Iterator<Item = (ScopeId, &Scope)> {
        self.live.range((Bound::Excluded(id), Bound::Unbounded)).map(|(id, scope)| (*id, scope))
    }

    pub(super) fn covering(&self, namespace: Option<&str>) -> impl Iterator<Item = &Scope> {
        self.iter().filter(move |scope| scope.covers(namespace))
    }
}

impl Scope {
    pub(super) fn new(namespace: Option<String>, selector: Option<Arc<str>>) -> Self {
        let (is_synced, hold, shows_all, high_water, replied, successor_of) = <_>::default();
        let (feed, seen) = (Feed::Watch, Settled::Continued);
        Self {
            namespace,
            selector,
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
        let (namespace, selector) = (self.namespace.take(), self.selector.take());
        let (hold, successor_of) = (self.hold, std::mem::take(&mut self.successor_of));
        let new = Self::new(namespace, selector);
        *self = Self { seen, hold, high_water, replied, successor_of, ..new };
    }

    pub(super) fn marks(&self) -> Marks {
        let (high_water, replied) = (self.high_water.clone(), self.replied.clone());
        Marks { seen: self.seen, high_water, replied }
    }

    pub(super) fn covers(&self, namespace: Option<&str>) -> bool {
        self.namespace.is_none() || self.namespace.as_deref() == namespace
    }

    /// Whether this selector is the selector of its watch.
    pub(super) fn selects_by(&self, selector: &str) -> bool {
        self.selector.as_deref() == Some(selector)
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
