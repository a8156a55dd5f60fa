//! The objects of a store, the rules by which they change, and the index by parent.

mod by_key;
mod census;
mod filtered;
mod relist;
mod scopes;

use std::collections::{BTreeSet, HashMap, HashSet};

use self::{by_key::ByKey, census::Census};
use super::{
    departed::Departed,
    filter::{Filtered, Listed},
    scope::{ListStart, Scope, ScopeId, raise},
    undecodable::UndecodableObjects,
};
use crate::object::{Object, ObjectKey, ResourceVersion, Uid, Undecodable};

/// A change of one object: it appeared, has a newer version, or is gone.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    /// What was cached before.
    pub(crate) before: Option<Object>,
    /// What is cached now.
    pub(crate) after: Option<Object>,
    /// The uids that either version names as its parent: its controller, and the values of our
    /// labels.
    pub(crate) parents: BTreeSet<Uid>,
}

impl Change {
    /// The current object, or its last version.
    ///
    /// # Panics
    /// Never: a change has at least one side.
    pub(crate) fn object(&self) -> &Object {
        self.after.as_ref().or(self.before.as_ref()).expect("a change has a side")
    }
}

/// A deleted object, of which late events are ignored.
#[derive(Debug)]
struct Tombstone {
    key: ObjectKey,
    /// Its last known version: an earlier event may show that it left the selector, and the next
    /// one that it is back.
    version: ResourceVersion,
    /// The clock when the deletion was received.
    created: u64,
}

#[derive(Debug, Default)]
pub(super) struct Contents {
    objects: HashSet<ByKey>,
    census: Census,
    /// Each sorted by key: most parents have a few children of a type, and a tree of these takes
    /// more memory than the children.
    by_parent: HashMap<Uid, Vec<Object>>,
    /// Objects whose deletion a reply reported before their watch did.
    tombstones: HashMap<Uid, Tombstone>,
    /// Recently deleted objects: a late reply does not bring them back.
    departed: Departed,
    pub(super) undecodable: UndecodableObjects,
    /// The clock when the last undecodable object without a known name was shown.
    last_nameless: u64,
    /// Counts lists and tombstones, to compare their order.
    clock: u64,
    bytes: usize,
    scopes: Vec<Scope>,
    /// How many holds on deletions have begun.
    holds: u64,
    /// Labels whose value is the uid of a parent.
    parent_labels: BTreeSet<String>,
    /// What the store holds; `None` for everything.
    filtered: Option<Filtered>,
}

// === reading ===

impl Contents {
    pub(super) fn new(parent_labels: BTreeSet<String>) -> Self {
        Self { parent_labels, ..Self::default() }
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Option<&Object> {
        self.objects.get(key).map(|ByKey(object)| object)
    }

    pub(super) fn objects(&self) -> impl Iterator<Item = &Object> {
        self.objects.iter().map(|ByKey(object)| object)
    }

    pub(super) fn of_parent(&self, parent: &Uid) -> impl Iterator<Item = &Object> {
        self.by_parent.get(parent).into_iter().flatten()
    }

    fn parents_of(&self, object: &Object) -> BTreeSet<Uid> {
        let mut parents: BTreeSet<Uid> = object.controller().cloned().into_iter().collect();
        let named = self.parent_labels.iter().filter_map(|label| object.label(label));
        for uid in named {
            let is_new = parents.iter().all(|parent| *parent != *uid);
            if is_new {
                parents.insert(Uid::new(&uid));
            }
        }
        parents
    }

    pub(super) fn parents_of_undecodable(&self, object: &Undecodable) -> BTreeSet<Uid> {
        let before = object.key().and_then(|key| self.get(key));
        let mut parents = before.map(|before| self.parents_of(before)).unwrap_or_default();
        parents.extend(self.undecodable.parents_of(object));
        parents.extend(object.owners().iter().cloned());
        let labels = self.parent_labels.iter();
        let named = labels.filter_map(|label| object.labels()?.get(label));
        parents.extend(named.map(|uid| Uid::new(uid)));
        parents
    }

    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

// === changing ===

impl Contents {
    pub(super) fn begin_list(&mut self, scope: ScopeId) -> ListStart {
        self.clock += 1;
        let listed = Listed(self.filtered.as_ref().map(|filtered| filtered.filter.clone()));
        ListStart { clock: self.clock, replied: self.scopes[scope.0].replied.clone(), listed }
    }

    pub(super) fn leave_out(&mut self, object: Undecodable) -> bool {
        let (parents, key) = (self.parents_of_undecodable(&object), object.key().cloned());
        let is_news = self.undecodable.add(object, parents, self.clock);
        if !key.is_some_and(|key| self.undecodable.has(&key)) {
            self.last_nameless = self.clock;
        }
        is_news
    }

    pub(super) fn bookmark(&mut self, scope: ScopeId, version: &ResourceVersion) {
        self.scopes[scope.0].advance(version);
    }

    pub(super) fn observe(&mut self, scope: ScopeId, object: Object) -> Option<Change> {
        if self.scopes[scope.0].is_ended() {
            return None;
        }
        self.scopes[scope.0].advance(object.resource_version());
        if self.is_unwanted(&object) {
            return self.observe_unwanted(&object);
        }
        self.accept(object)
    }

    pub(super) fn observe_echo(
        &mut self,
        scope: ScopeId,
        key: &ObjectKey,
        uid: &str,
        version: &ResourceVersion,
    ) -> bool {
        let is_echo = self.is_excluded(key, version) || self.has_this_or_newer(key, uid, version);
        if is_echo {
            self.undecodable.has_read(key, version);
            self.scopes[scope.0].advance(version);
        }
        is_echo
    }

    pub(super) fn overlay(&mut self, object: Object) -> Option<Change> {
        let namespace = object.namespace();
        for scope in self.scopes.iter_mut().filter(|scope| scope.covers(namespace)) {
            raise(&mut scope.replied, object.resource_version());
        }
        if self.is_outdated(&object) { None } else { self.accept(object) }
    }

    /// Whether a watch that shows nothing under this key is past the version of the object: it was
    /// deleted, or left the selector, before the reply was read, and no later event would remove
    /// it.
    fn is_outdated(&self, object: &Object) -> bool {
        let (key, version) = (object.key(), object.resource_version());
        let is_past = |scope: &Scope| scope.covers(object.namespace()) && scope.is_past(version);
        let is_shown = self.get(key).is_some() || self.undecodable.has(key);
        !is_shown && self.scopes.iter().any(is_past)
    }

    fn accept(&mut self, object: Object) -> Option<Change> {
        self.undecodable.has_read(object.key(), object.resource_version());
        let is_known_gone =
            self.tombstones.contains_key(object.uid()) || self.departed.outdates(&object);
        let (key, uid, version) = (object.key(), object.uid(), object.resource_version());
        if is_known_gone || self.has_this_or_newer(key, uid, version) {
            return None;
        }
        let change = self.insert(object);
        if let Some(before) = change.before.as_ref().filter(|it| it.uid() != change.object().uid())
        {
            self.departed.remember(before.uid(), change.object().resource_version());
        }
        Some(change)
    }

    pub(super) fn observe_deletion(&mut self, scope: ScopeId, object: &Object) -> Option<Change> {
        self.observe_end(scope, object.key(), object.uid(), object.resource_version())
    }

    pub(super) fn observe_end(
        &mut self,
        scope: ScopeId,
        key: &ObjectKey,
        uid: &Uid,
        version: &ResourceVersion,
    ) -> Option<Change> {
        // The object may only have left the selector of a scope that has ended.
        if self.scopes[scope.0].is_ended() {
            return None;
        }
        self.scopes[scope.0].advance(version);
        self.end(key, uid, version)
    }

    /// Records the end of an object; also before a list is complete, when the scope may still lack
    /// older versions.
    pub(super) fn end(
        &mut self,
        key: &ObjectKey,
        uid: &Uid,
        version: &ResourceVersion,
    ) -> Option<Change> {
        if self.tombstones.get(uid).is_some_and(|it| !version.is_older_than(&it.version)) {
            self.tombstones.remove(uid);
        }
        self.departed.remember(uid, version);
        self.undecodable.has_gone(key, uid, Some(version));
        let cached = self.get(key)?;
        let is_stale = version.is_older_than(cached.resource_version());
        (cached.uid() == uid && !is_stale).then(|| self.remove(key))?
    }

    /// Records the reply to a final delete, which has no version.
    pub(super) fn mark_deleted(&mut self, key: &ObjectKey, uid: &Uid) -> Option<Change> {
        self.undecodable.has_gone(key, uid, None);
        // Not cached: the watch was faster than the reply and will not show the uid again.
        let cached = self.get(key).filter(|cached| cached.uid() == uid)?;
        let version = cached.resource_version().clone();
        self.clock += 1;
        let tombstone = Tombstone { key: key.clone(), version, created: self.clock };
        self.tombstones.insert(uid.clone(), tombstone);
        self.remove(key)
    }

    /// Whether the cached object of this key is the same version or a newer one.
    fn has_this_or_newer<U>(&self, key: &ObjectKey, uid: &U, version: &ResourceVersion) -> bool
    where
        Uid: PartialEq<U>,
        U: ?Sized,
    {
        self.get(key).is_some_and(|cached| {
            let is_same = cached.uid() == uid && cached.resource_version() == version;
            is_same || version.is_older_than(cached.resource_version())
        })
    }

    fn insert(&mut self, object: Object) -> Change {
        self.undecodable.has_read(object.key(), object.resource_version());
        let mut parents = self.parents_of(&object);
        let removed = self.remove(object.key());
        self.index(&object, &parents);
        self.bytes += object.json().len();
        self.census.enter(object.namespace());
        self.objects.insert(ByKey(object.clone()));
        let (before, others) = removed.map_or_else(Default::default, |c| (c.before, c.parents));
        parents.extend(others);
        Change { before, after: Some(object), parents }
    }

    fn index(&mut self, object: &Object, parents: &BTreeSet<Uid>) {
        for parent in parents {
            let children = self.by_parent.entry(parent.clone()).or_default();
            if let Err(at) = find(children, object.key()) {
                // Most have one child of a type, and capacity for four would be wasted.
                children.reserve_exact(usize::from(children.is_empty()));
                children.insert(at, object.clone());
            }
        }
    }

    pub(super) fn add_parent_label(&mut self, label: &str) {
        if !self.parent_labels.insert(label.to_owned()) {
            return;
        }
        let objects: Vec<Object> = self.objects().cloned().collect();
        for object in objects {
            let parents = self.parents_of(&object);
            self.index(&object, &parents);
        }
    }

    fn remove(&mut self, key: &ObjectKey) -> Option<Change> {
        let ByKey(object) = self.objects.take(key)?;
        self.bytes -= object.json().len();
        self.census.leave(object.namespace());
        let parents = self.parents_of(&object);
        for parent in &parents {
            let Some(children) = self.by_parent.get_mut(parent) else { continue };
            if let Ok(at) = find(children, key) {
                children.remove(at);
            }
            if children.is_empty() {
                self.by_parent.remove(parent);
            }
        }
        Some(Change { before: Some(object), after: None, parents })
    }
}

fn find(children: &[Object], key: &ObjectKey) -> Result<usize, usize> {
    children.binary_search_by(|child| child.key().cmp(key))
}

#[cfg(test)]
mod tests;
