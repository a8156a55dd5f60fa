//! The objects of a store, the rules by which they change, and the index by parent.

mod as_of;
mod by_key;
mod census;
mod ended_jobs;
mod ends;
mod filtered;
mod relist;
mod restored_server;
mod scopes;
mod superseded;
mod tombstone;

use std::collections::{BTreeSet, HashMap, HashSet};

use self::{
    by_key::ByKey, census::Census, ended_jobs::EndedJobs, superseded::Superseded,
    tombstone::Tombstone,
};
use super::{
    departed::{Departed, Departure},
    filter::{Filtered, Listed},
    scope::{ListStart, ScopeId, Scopes, raise},
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

    /// Continues with a later change of the object.
    pub(crate) fn follow_with(&mut self, later: &Self) {
        if later.after.is_none() && self.before.is_none() {
            self.before.clone_from(&later.before);
        }
        self.after.clone_from(&later.after);
        self.parents.extend(later.parents.iter().cloned());
    }
}

#[derive(Debug, Default)]
pub(super) struct Contents {
    objects: HashSet<ByKey>,
    census: Census,
    /// What they were in revisions that are read.
    superseded: Superseded,
    /// Each sorted by key: most parents have a few children of a type, and a tree of these takes
    /// more memory than the children.
    by_parent: HashMap<Uid, Vec<Object>>,
    /// Objects whose deletion a reply reported before their watch did.
    tombstones: HashMap<Uid, Tombstone>,
    /// Recently deleted objects: a late reply does not bring them back.
    departed: Departed,
    ended_jobs: EndedJobs,
    pub(super) undecodable: UndecodableObjects,
    /// The clock when the last undecodable object without a known name was shown.
    last_nameless: u64,
    /// Counts lists and tombstones, to compare their order.
    clock: u64,
    bytes: usize,
    scopes: Scopes,
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

    /// The Jobs of a parent that had finished when their TTL removed them, unless another object has taken their key.
    pub(super) fn ended_jobs(&self, parent: &Uid) -> impl Iterator<Item = &Object> {
        self.ended_jobs.iter().filter(move |job| self.parents_of(job).contains(parent))
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
        let scope = self.scopes.get(scope);
        let shown = scope.and_then(|scope| self.shown_before(scope));
        let replaces = scope.is_some_and(|scope| self.replaces(scope));
        ListStart { clock: self.clock, shown, listed, replaces }
    }

    pub(super) fn mark_undecodable_by(&mut self, scope: ScopeId, object: Undecodable) -> bool {
        self.scopes.get(scope).is_some() && self.know_undecodable(object, Some(scope))
    }

    pub(super) fn mark_undecodable(&mut self, object: Undecodable) -> bool {
        self.know_undecodable(object, None)
    }

    fn know_undecodable(&mut self, object: Undecodable, by: Option<ScopeId>) -> bool {
        let (parents, key) = (self.parents_of_undecodable(&object), object.key().cloned());
        let is_news = self.undecodable.add(object, parents, (by, self.clock));
        if !key.is_some_and(|key| self.undecodable.has(&key)) {
            self.last_nameless = self.clock;
        }
        is_news
    }

    pub(super) fn bookmark(&mut self, scope: ScopeId, version: &ResourceVersion) {
        if let Some(scope) = self.scopes.get_mut(scope) {
            scope.advance(version);
        }
    }

    pub(super) fn observe(&mut self, scope: ScopeId, object: Object) -> Option<Change> {
        let state = self.scopes.get_mut(scope)?;
        state.advance(object.resource_version());
        let selector = state.selector.clone();
        if self.is_unwanted(&object) {
            return self.observe_unwanted(&object);
        }
        let version = object.resource_version().clone();
        self.accept(object, selector.as_deref(), &version)
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
            self.bookmark(scope, version);
        }
        is_echo
    }

    pub(super) fn overlay(&mut self, object: Object) -> Option<Change> {
        let covering = self.scopes.iter_mut().filter(|(_, it)| it.covers(object.namespace()));
        for (_, scope) in covering {
            raise(&mut scope.replied, object.resource_version());
        }
        if !self.is_covered_at_all(&object) || self.is_outdated(&object) {
            return None;
        }
        let covering = || self.scopes.covering(object.namespace());
        let is_seen_by = |selector: &str| covering().all(|scope| scope.selects_by(selector));
        if self.departed.outdates(&object, object.resource_version(), is_seen_by) {
            self.undecodable.has_read(object.key(), object.resource_version());
            return None;
        }
        self.accept_unless_deleted(object)
    }

    /// Whether a watch that shows nothing under this key is past the version of the object: it was
    /// deleted, or left the selector, before the reply was read, and no later event would remove
    /// it.
    fn is_outdated(&self, object: &Object) -> bool {
        let (key, version) = (object.key(), object.resource_version());
        let is_shown = self.get(key).is_some() || self.undecodable.has(key);
        !is_shown && self.scopes.covering(object.namespace()).any(|scope| scope.is_past(version))
    }

    /// Processes an object that a watch with a selector shows, as of a version.
    fn accept(
        &mut self,
        object: Object,
        selector: Option<&str>,
        as_of: &ResourceVersion,
    ) -> Option<Change> {
        let is_seen_by = |it: &str| selector == Some(it);
        if self.departed.outdates(&object, as_of, is_seen_by) {
            self.undecodable.has_read(object.key(), object.resource_version());
            return None;
        }
        self.accept_unless_deleted(object)
    }

    fn accept_unless_deleted(&mut self, object: Object) -> Option<Change> {
        let (key, uid, version) = (object.key(), object.uid(), object.resource_version());
        self.undecodable.has_read(key, version);
        if self.tombstones.contains_key(uid) || self.has_this_or_newer(key, uid, version) {
            return None;
        }
        let change = self.insert(object);
        if let Some(before) = change.before.as_ref().filter(|it| it.uid() != change.object().uid())
        {
            let replaced = Departure::deleted(change.object().resource_version().clone());
            self.departed.remember(before.uid(), replaced);
        }
        Some(change)
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
        if removed.is_none() {
            self.superseded.add(object.key(), None);
        }
        self.ended_jobs.forget(object.key());
        self.index(&object, &parents);
        self.bytes += object.bytes();
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
        self.undecodable.add_parent_label(label);
    }

    fn remove(&mut self, key: &ObjectKey) -> Option<Change> {
        let ByKey(object) = self.objects.take(key)?;
        self.superseded.add(key, Some(&object));
        self.ended_jobs.keep(&object);
        self.bytes -= object.bytes();
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
