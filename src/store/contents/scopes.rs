//! The scopes that feed a store, and what the contents can be relied on for.
//!
//! A scope of all namespaces may have fallbacks, each for one namespace, that replace it while it
//! cannot be fed. They are inactive otherwise.

use super::{
    super::scope::{Feed, Hold, Scope, ScopeId, Settled, raise},
    Contents,
};
use crate::object::{Object, ObjectKey, ResourceVersion};

// === reading ===

impl Contents {
    pub(in crate::store) fn is_scope_synced(&self, scope: ScopeId) -> bool {
        self.scopes.get(scope).is_some_and(|scope| scope.is_synced)
    }

    /// Whether one namespace, or for `None` all, has been listed completely.
    pub(in crate::store) fn is_synced(&self, namespace: Option<&str>) -> bool {
        self.is_covered(namespace, |scope| scope.is_synced)
    }

    pub(in crate::store) fn may_delete(&self, namespace: Option<&str>) -> bool {
        let matters = |scope: &&Scope| namespace.is_none() || scope.covers(namespace);
        self.is_covered(namespace, |scope| scope.is_synced && scope.feed == Feed::Watch)
            && self.scopes.iter().filter(matters).all(|scope| scope.hold.is_none())
    }

    pub(in crate::store) fn holds_deletions(&self) -> bool {
        self.scopes.iter().any(|scope| scope.hold.is_some())
    }

    /// The version up to which every scope is complete.
    pub(in crate::store) fn version(&self) -> Option<&ResourceVersion> {
        if let Some(everywhere) = self.everywhere() {
            return everywhere.high_water.as_ref();
        }
        let marks: Option<Vec<_>> = self.scopes.iter().map(|s| s.high_water.as_ref()).collect();
        marks?
            .into_iter()
            .reduce(|oldest, mark| if mark.is_older_than(oldest) { mark } else { oldest })
    }

    pub(in crate::store) fn hold(&self, scope: ScopeId) -> Option<Hold> {
        self.scopes.get(scope)?.hold
    }

    /// Whether the scopes of a namespace, or for `None` of all, satisfy a condition.
    fn is_covered(&self, namespace: Option<&str>, is_good: impl Fn(&Scope) -> bool) -> bool {
        match (namespace, self.everywhere()) {
            (Some(_), _) => self.scopes.covering(namespace).any(is_good),
            (None, Some(everywhere)) => is_good(everywhere),
            (None, None) => self.scopes.iter().next().is_some() && self.scopes.iter().all(is_good),
        }
    }

    /// While another one takes over, it is the earlier one.
    fn everywhere(&self) -> Option<&Scope> {
        self.scopes.iter().find(|scope| scope.namespace.is_none())
    }
}

// === changing ===

impl Contents {
    pub(in crate::store) fn add_scope(&mut self, namespace: Option<String>) -> ScopeId {
        self.add_selecting_scope(namespace, None)
    }

    pub(in crate::store) fn add_selecting_scope(
        &mut self,
        namespace: Option<String>,
        selector: Option<String>,
    ) -> ScopeId {
        if let Some(namespace) = namespace.as_deref() {
            let here = self.objects().filter(|object| object.namespace() == Some(namespace));
            let present = here.count();
            self.census.begin(namespace, present);
        }
        self.scopes.add(Scope::new(namespace, selector.map(Into::into)))
    }

    pub(in crate::store) fn add_successor(
        &mut self,
        namespace: Option<String>,
        selector: Option<String>,
        earlier: Vec<ScopeId>,
    ) -> ScopeId {
        let id = self.add_selecting_scope(namespace, selector);
        if let Some(scope) = self.scopes.get_mut(id) {
            scope.successor_of = earlier;
        }
        id
    }

    /// What no other scope covers is dropped; nobody is to be notified.
    pub(in crate::store) fn end_scope(&mut self, scope: ScopeId) {
        let Some(ended) = self.scopes.remove(scope) else { return };
        if let Some(namespace) = &ended.namespace {
            self.census.end(namespace);
        }
        self.undecodable.forget_scope(scope);
        if self.everywhere().is_some() {
            return;
        }
        let Self { scopes, undecodable, tombstones, .. } = self;
        let is_covered = |namespace: Option<&str>| scopes.covering(namespace).next().is_some();
        undecodable.retain(is_covered);
        tombstones.retain(|_, tombstone| is_covered(tombstone.key.namespace.as_deref()));
        let dropped = self.objects().filter(|object| !self.is_covered_at_all(object));
        let dropped: Vec<ObjectKey> = dropped.map(|object| object.key().clone()).collect();
        for key in dropped {
            self.remove(&key);
        }
    }

    /// Whether a scope shows what becomes of an object.
    pub(super) fn is_covered_at_all(&self, object: &Object) -> bool {
        self.scopes.covering(object.namespace()).next().is_some()
    }

    /// The newest version that the scopes which a scope replaces have shown.
    pub(super) fn shown_before(&self, scope: &Scope) -> Option<ResourceVersion> {
        let mut shown = scope.replied.clone();
        let earlier = scope.successor_of.iter().filter_map(|id| self.scopes.get(*id));
        for mark in earlier.flat_map(|earlier| [&earlier.high_water, &earlier.replied]).flatten() {
            raise(&mut shown, mark);
        }
        shown
    }

    /// Whether it replaces scopes, which have been listed.
    pub(super) fn replaces(&self, scope: &Scope) -> bool {
        let mut earlier = scope.successor_of.iter().filter_map(|id| self.scopes.get(*id));
        earlier.any(|earlier| earlier.is_synced)
    }

    /// A scope is listed: the scopes that it replaces end. Their holds on deletions pass to it.
    pub(super) fn take_over(&mut self, scope: ScopeId) {
        let Some(listed) = self.scopes.get_mut(scope) else { return };
        for earlier in std::mem::take(&mut listed.successor_of) {
            let hold = self.scopes.get(earlier).and_then(|earlier| earlier.hold);
            if let Some(listed) = self.scopes.get_mut(scope) {
                listed.hold = listed.hold.or(hold);
            }
            self.end_scope(earlier);
        }
    }

    pub(in crate::store) fn rest(&mut self, scope: ScopeId) {
        let Some(scope) = self.scopes.get_mut(scope) else { return };
        (scope.feed, scope.is_synced, scope.shows_all) = (Feed::Another, false, false);
    }

    pub(in crate::store) fn use_fallback(&mut self, scope: ScopeId) {
        let known = self.everywhere().map(Scope::marks);
        if let Some((known, scope)) = known.zip(self.scopes.get_mut(scope)) {
            scope.use_fallback(&known);
        }
    }

    pub(in crate::store) fn release_deletions(&mut self, hold: Hold) {
        for (_, scope) in self.scopes.iter_mut() {
            scope.hold = scope.hold.filter(|latest| *latest != hold);
        }
    }

    pub(in crate::store) fn cut_off(&mut self, scope: ScopeId, is_cut_off: bool) {
        if let Some(scope) = self.scopes.get_mut(scope)
            && let Feed::Watch | Feed::CutOff = scope.feed
        {
            scope.feed = if is_cut_off { Feed::CutOff } else { Feed::Watch };
        }
    }

    pub(in crate::store) fn has_gone_back(&mut self, scope: ScopeId) {
        if let Some(scope) = self.scopes.get_mut(scope) {
            scope.seen = Settled::VersionRegressed;
        }
    }
}

#[cfg(test)]
mod tests;
