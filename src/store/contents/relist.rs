//! The changes that a complete list makes: it adds objects, deletes missing ones, and may
//! show that the server was restored from a backup (`restored_server`).

use std::collections::{BTreeSet, HashSet};

use super::{
    super::{
        departed::Departure,
        filter::Listed,
        scope::{Feed, ListStart, ScopeId, Settled},
        undecodable::Shown,
    },
    Change, Contents, Tombstone,
};
use crate::object::{Object, ObjectKey, ResourceVersion, Uid};

impl Contents {
    pub(in crate::store) fn replace(
        &mut self,
        scope: ScopeId,
        ListStart { clock: begun, shown, listed, replaces: _ }: ListStart,
        mut items: Vec<Object>,
        version: &ResourceVersion,
    ) -> (Vec<Change>, Settled) {
        let Some(state) = self.scopes.get_mut(scope).filter(|it| it.feed != Feed::Another) else {
            // The list was in progress when another scope replaced this one.
            return (Vec::new(), Settled::Continued);
        };
        let selector = state.selector.clone();
        let seen = std::mem::replace(&mut state.seen, Settled::Continued);
        items.retain(|item| !self.is_unwanted(item));
        let is_behind = shown.is_some_and(|shown| version.is_older_than(&shown));
        let has_seen = seen == Settled::VersionRegressed || self.has_an_earlier_seen(scope);
        let version_regressed = has_seen || is_behind || self.has_regressed(scope, &items, version);
        if version_regressed {
            self.reset(scope);
        }
        self.expire_tombstones(scope, begun, &items, version);
        let as_of = (!version_regressed).then_some(version);
        self.settle_undecodable(scope, begun, as_of);
        let mut changes = self.drop_absent(scope, (&items, &listed), version, version_regressed);
        // Undecodable objects are absent too, but not deleted: they may become readable in the same
        // version.
        let shows_all = self.last_nameless < begun;
        if !version_regressed && shows_all {
            let gone = changes.iter().map(Change::object);
            let gone = gone.filter(|object| !self.undecodable.has(object.key()));
            for object in gone {
                let departure = Departure::before(version.clone(), selector.clone(), object);
                self.departed.remember(object.uid(), departure);
            }
        }
        for item in items {
            if version_regressed {
                changes.extend(self.insert_unless_equal(item));
            } else {
                self.read_again(&item);
                changes.extend(self.accept(item, selector.as_deref(), version));
            }
        }
        if let Some(scope) = self.scopes.get_mut(scope) {
            (scope.is_synced, scope.shows_all) = (true, shows_all);
            scope.advance(version);
        }
        self.take_over(scope);
        (changes, if version_regressed { Settled::VersionRegressed } else { Settled::Continued })
    }

    /// What is kept of the managers of an object may have changed since its version was cached.
    fn read_again(&mut self, item: &Object) {
        let cached = self.get(item.key()).filter(|cached| *cached == item);
        if cached.is_some_and(|cached| !cached.is_read_as(item)) {
            self.insert(item.clone());
        }
    }

    /// Forgets the undecodable objects that a list has not shown, unless they are newer, or were shown by a later scope
    /// with another selector, which is wider.
    fn settle_undecodable(&mut self, scope: ScopeId, begun: u64, as_of: Option<&ResourceVersion>) {
        let Self { scopes, undecodable, .. } = self;
        let Some(state) = scopes.get(scope) else { return };
        let wider = scopes.after(scope).filter(|(_, later)| later.selector != state.selector);
        let wider: Vec<ScopeId> = wider.map(|(id, _)| id).collect();
        let is_newer = |version: Option<&ResourceVersion>| {
            as_of.zip(version).is_some_and(|(list, version)| list.is_older_than(version))
        };
        undecodable.settle(|key, version, shown| {
            let is_shown = |(by, at): &Shown| match by.filter(|by| *by != scope) {
                Some(by) => wider.contains(&by) || is_newer(version),
                None => *at >= begun,
            };
            shown.iter().any(is_shown) || !state.covers(key.namespace.as_deref())
        });
    }

    /// Removes the tombstones that a list replaces, as it was requested later: objects in it are
    /// not gone.
    fn expire_tombstones(
        &mut self,
        scope: ScopeId,
        begun: u64,
        items: &[Object],
        version: &ResourceVersion,
    ) {
        let Some(scope) = self.scopes.get(scope) else { return };
        let is_outdated = |_: &Uid, it: &mut Tombstone| {
            it.created <= begun && scope.covers(it.key.namespace.as_deref())
        };
        let outdated = self.tombstones.extract_if(is_outdated).map(|(uid, _)| uid);
        let mut gone: HashSet<Uid> = outdated.collect();
        if !gone.is_empty() {
            for item in items {
                gone.remove(item.uid());
            }
        }
        for uid in &gone {
            self.departed.remember(uid, Departure::deleted(version.clone()));
        }
    }

    /// Deletes the objects that a scope covers, that the list lacks although it was to contain them, and
    /// that are not newer than the list.
    fn drop_absent(
        &mut self,
        scope: ScopeId,
        (items, filter): (&[Object], &Listed),
        version: &ResourceVersion,
        version_regressed: bool,
    ) -> Vec<Change> {
        let listed: BTreeSet<&ObjectKey> = items.iter().map(Object::key).collect();
        // With a scope for each of many namespaces not every list may search all objects.
        if self.has_no_more_than(&listed, scope) {
            return Vec::new();
        }
        let Some(state) = self.scopes.get(scope) else { return Vec::new() };
        let is_gone = |object: &&Object| {
            state.covers(object.namespace())
                && !listed.contains(object.key())
                && filter.includes(object)
                && (version_regressed || !version.is_older_than(object.resource_version()))
                && !self.is_overruled(scope, object.namespace())
        };
        let gone: Vec<ObjectKey> =
            self.objects().filter(is_gone).map(|object| object.key().clone()).collect();
        gone.iter().filter_map(|key| self.remove(key)).collect()
    }

    /// Drops what a scope does not select and only the scopes showed that it replaced. They may have shown it after the list
    /// of this scope, which will show no later version.
    pub(in crate::store) fn drop_unselected(
        &mut self,
        scope: ScopeId,
        listed: &ResourceVersion,
        selects: &dyn Fn(&Object) -> bool,
    ) -> Vec<Change> {
        let Some(state) = self.scopes.get(scope) else { return Vec::new() };
        let is_unselected = |object: &&Object| {
            listed.is_older_than(object.resource_version())
                && state.covers(object.namespace())
                && self.scopes.covering(object.namespace()).nth(1).is_none()
                && !selects(object)
        };
        let unselected = self.objects().filter(is_unselected).map(|object| object.key().clone());
        let unselected: Vec<ObjectKey> = unselected.collect();
        unselected.iter().filter_map(|key| self.remove(key)).collect()
    }

    /// Whether all cached objects of a scope are listed.
    fn has_no_more_than(&self, listed: &BTreeSet<&ObjectKey>, scope: ScopeId) -> bool {
        let namespace = self.scopes.get(scope).and_then(|scope| scope.namespace.as_deref());
        let cached = namespace.map_or(Some(self.len()), |namespace| self.census.of(namespace));
        let known = || listed.iter().filter(|key| self.get(key).is_some()).count();
        cached.is_some_and(|cached| cached == 0 || cached == known())
    }

    /// A version of the lost history may have been assigned again: only the texts differ.
    fn insert_unless_equal(&mut self, object: Object) -> Option<Change> {
        let cached = self.get(object.key());
        let is_equal = cached.is_some_and(|it| *it == object && it.json() == object.json());
        (!is_equal).then(|| self.insert(object))
    }
}

#[cfg(test)]
mod tests;
