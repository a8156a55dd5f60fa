//! The changes that a complete list makes: it adds objects, deletes those that it lacks, and may
//! show that the server was restored from a backup.

use std::collections::{BTreeSet, HashSet};

use super::{
    super::{
        departed::Departed,
        filter::Listed,
        scope::{Feed, Hold, ListStart, ScopeId, Settled},
    },
    Change, Contents, Tombstone,
};
use crate::object::{Object, ObjectKey, ResourceVersion, Uid};

impl Contents {
    pub(in crate::store) fn replace(
        &mut self,
        scope: ScopeId,
        ListStart { clock: begun, replied, listed }: ListStart,
        mut items: Vec<Object>,
        version: &ResourceVersion,
    ) -> (Vec<Change>, Settled) {
        if let Feed::Another | Feed::Ended = self.scopes[scope.0].feed {
            // The list was in progress when another scope replaced this one.
            return (Vec::new(), Settled::Continued);
        }
        items.retain(|item| !self.is_unwanted(item));
        let is_behind_reply = replied.is_some_and(|replied| version.is_older_than(&replied));
        let seen = std::mem::replace(&mut self.scopes[scope.0].seen, Settled::Continued);
        let is_seen = seen == Settled::VersionRegressed;
        let version_regressed =
            is_seen || is_behind_reply || self.has_regressed(scope, &items, version);
        if version_regressed {
            self.reset(scope);
        }
        self.expire_tombstones(scope, begun, &items, version);
        self.undecodable.settle(|namespace| self.scopes[scope.0].covers(namespace), begun);
        let mut changes = self.drop_absent(scope, (&items, &listed), version, version_regressed);
        // Undecodable objects are absent too, but not deleted: they may become readable in the same
        // version.
        let shows_all = self.last_nameless < begun;
        if !version_regressed && shows_all {
            let gone = changes.iter().map(Change::object);
            let gone = gone.filter(|object| !self.undecodable.has(object.key()));
            gone.for_each(|object| self.departed.remember(object.uid(), version));
        }
        for item in items {
            if version_regressed {
                changes.extend(self.insert_unless_equal(item));
            } else {
                changes.extend(self.accept(item));
            }
        }
        let scope = &mut self.scopes[scope.0];
        (scope.is_synced, scope.shows_all) = (true, shows_all);
        scope.advance(version);
        for earlier in std::mem::take(&mut scope.successor_of) {
            self.end_scope(earlier);
        }
        (changes, if version_regressed { Settled::VersionRegressed } else { Settled::Continued })
    }

    /// Forgets the lost history, and holds deletions in the scope. Overlapping scopes are listed
    /// again.
    fn reset(&mut self, scope: ScopeId) {
        self.tombstones.clear();
        self.departed = Departed::default();
        self.holds += 1;
        for (at, other) in self.scopes.iter_mut().enumerate() {
            if at == scope.0 {
                other.hold = Some(Hold(self.holds));
                (other.high_water, other.replied) = (None, None);
            } else if other.namespace.is_none() {
                (other.seen, other.shows_all) = (Settled::VersionRegressed, false);
            }
        }
    }

    /// Whether a list, or one of its objects, is older than what is known. The versions of a
    /// restored server may continue (`etcdutl snapshot restore --bump-revision`). Then only its
    /// objects show that they are from the backup: a list that is at least as new as a known
    /// version of an object cannot contain an older one.
    fn has_regressed(&self, scope: ScopeId, items: &[Object], version: &ResourceVersion) -> bool {
        let is_regressed = |item: &Object| {
            let cached = self.get(item.key()).map(Object::resource_version);
            let mut known = cached.into_iter().chain(self.departed.departure(item.uid()));
            known.any(|known| {
                item.resource_version().is_older_than(known) && !version.is_older_than(known)
            })
        };
        self.scopes[scope.0].is_behind(version) || items.iter().any(is_regressed)
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
        let scope = &self.scopes[scope.0];
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
            self.departed.remember(uid, version);
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
        let scope = &self.scopes[scope.0];
        let is_gone = |object: &&Object| {
            scope.covers(object.namespace())
                && !listed.contains(object.key())
                && filter.includes(object)
                && (version_regressed || !version.is_older_than(object.resource_version()))
        };
        let gone: Vec<ObjectKey> =
            self.objects().filter(is_gone).map(|object| object.key().clone()).collect();
        gone.iter().filter_map(|key| self.remove(key)).collect()
    }

    /// Whether all cached objects of a scope are listed.
    fn has_no_more_than(&self, listed: &BTreeSet<&ObjectKey>, scope: ScopeId) -> bool {
        let namespace = self.scopes[scope.0].namespace.as_deref();
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
