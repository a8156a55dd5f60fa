//! The handles on a store: one that changes it, and one that reads it from anywhere.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use super::{Change, Hold, ListStart, ScopeId, Settled, contents::Contents, undecodable};
use crate::object::{K8sType, Object, ObjectKey, ResourceVersion, Uid, Undecodable};

/// The handle that changes a store: held by its watch loops and by those who write to the API.
#[derive(Clone)]
pub struct Store(StoreReader);

/// The handle that reads a store. Cheap to clone; each call sees the state of that moment.
#[derive(Clone)]
pub struct StoreReader {
    ty: K8sType,
    contents: Arc<RwLock<Contents>>,
}

// === Store ===

impl Store {
    /// An empty store. `parent_labels` are the labels whose value is the uid of a parent.
    pub fn new(ty: K8sType, parent_labels: BTreeSet<String>) -> Self {
        let contents = Arc::new(RwLock::new(Contents::new(parent_labels)));
        Self(StoreReader { ty, contents })
    }

    /// A handle for reading.
    pub fn reader(&self) -> StoreReader {
        self.0.clone()
    }

    /// Adds a watch that will feed the store; `None` covers all namespaces.
    pub fn add_scope(&self, namespace: Option<String>) -> ScopeId {
        self.write().add_scope(namespace)
    }

    /// Takes in that nothing feeds a scope of one namespace: one of all namespaces does it too.
    pub fn rest(&self, scope: ScopeId) {
        self.write().rest(scope);
    }

    /// Takes in that a scope of one namespace is fed from now on, as one of all namespaces cannot be.
    /// Both may be for a while.
    pub fn use_fallback(&self, scope: ScopeId) {
        self.write().use_fallback(scope);
    }

    /// Takes in that a watch cannot go on and will not soon, or that it does again: what it fed is
    /// out of date, and no reason to delete anything.
    pub fn cut_off(&self, scope: ScopeId, is_cut_off: bool) {
        self.write().cut_off(scope, is_cut_off);
    }

    /// Takes in that a look at the server has shown that it went back to an earlier version: the next
    /// list of the scope is from there, however new it is by then.
    pub fn has_gone_back(&self, scope: ScopeId) {
        self.write().has_gone_back(scope);
    }

    /// To be called before a list is asked for, whose result goes into [`Store::replace`].
    pub fn begin_list(&self, scope: ScopeId) -> ListStart {
        self.write().begin_list(scope)
    }

    /// Takes in a complete list of a scope, each object once; what it lacks is deleted.
    pub fn replace(
        &self,
        scope: ScopeId,
        start: ListStart,
        items: Vec<Object>,
        version: &ResourceVersion,
    ) -> (Vec<Change>, Settled) {
        self.write().replace(scope, start, items, version)
    }

    /// Takes in an `ADDED` or `MODIFIED` event.
    pub fn observe(&self, scope: ScopeId, object: Object) -> Option<Change> {
        self.write().observe(scope, object)
    }

    /// Takes in an `ADDED` or `MODIFIED` event of which only this has been read yet, if that is
    /// enough: the same version is cached, or a newer one. `false` changes nothing.
    pub fn observe_echo(
        &self,
        scope: ScopeId,
        key: &ObjectKey,
        uid: &str,
        version: &ResourceVersion,
    ) -> bool {
        self.write().observe_echo(scope, key, uid, version)
    }

    /// Takes in a `DELETED` event.
    pub fn observe_deletion(&self, scope: ScopeId, object: &Object) -> Option<Change> {
        self.write().observe_deletion(scope, object)
    }

    /// The same within a streamed list, which is not complete yet.
    pub fn observe_deletion_within_list(&self, object: &Object) -> Option<Change> {
        self.write().end(object.key(), object.uid(), object.resource_version())
    }

    /// Takes in a `DELETED` event of an object that cannot be read, as far as it can: that is enough.
    pub fn observe_end(
        &self,
        scope: ScopeId,
        key: &ObjectKey,
        uid: &Uid,
        version: &ResourceVersion,
    ) -> Option<Change> {
        self.write().observe_end(scope, key, uid, version)
    }

    /// The same within a streamed list.
    pub fn observe_end_within_list(
        &self,
        key: &ObjectKey,
        uid: &Uid,
        version: &ResourceVersion,
    ) -> Option<Change> {
        self.write().end(key, uid, version)
    }

    /// Takes in an object that cannot be read; whether it, or this version of it, is news.
    pub fn leave_out(&self, object: Undecodable) -> bool {
        self.write().leave_out(object)
    }

    /// Takes in a `BOOKMARK` event.
    pub fn bookmark(&self, scope: ScopeId, version: &ResourceVersion) {
        self.write().bookmark(scope, version);
    }

    /// Takes in the object that answered a write of ours, or a live read.
    pub fn overlay(&self, object: Object) -> Option<Change> {
        self.write().overlay(object)
    }

    /// Takes in the reply to a final delete: the object is gone, whatever late events say.
    pub fn mark_deleted(&self, key: &ObjectKey, uid: &Uid) -> Option<Change> {
        self.write().mark_deleted(key, uid)
    }

    /// The hold on deletions that the latest [`Settled::VersionRegressed`] of a scope began, until it is
    /// released.
    pub fn hold(&self, scope: ScopeId) -> Option<Hold> {
        self.write().hold(scope)
    }

    /// Whether deletions are held in any scope.
    pub fn holds_deletions(&self) -> bool {
        self.write().holds_deletions()
    }

    /// Ends a hold on deletions, unless a later one has begun.
    pub fn release_deletions(&self, hold: Hold) {
        self.write().release_deletions(hold);
    }

    fn write(&self) -> RwLockWriteGuard<'_, Contents> {
        self.0.contents.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({})", self.0.ty)
    }
}

// === StoreReader ===

impl StoreReader {
    /// The type of the objects.
    pub fn ty(&self) -> &K8sType {
        &self.ty
    }

    /// The object with this key.
    pub fn get(&self, key: &ObjectKey) -> Option<Object> {
        self.read().get(key).cloned()
    }

    /// Everything cached, by key.
    pub fn list(&self) -> Vec<Object> {
        let mut objects = self.objects();
        objects.sort_unstable_by(|a, b| a.key().cmp(b.key()));
        objects
    }

    /// The same in no order.
    pub fn objects(&self) -> Vec<Object> {
        self.read().objects().cloned().collect()
    }

    /// The objects that name this uid as their controller or in a parent label.
    pub fn of_parent(&self, parent: &Uid) -> Vec<Object> {
        self.read().of_parent(parent).cloned().collect()
    }

    /// How many objects are cached.
    pub fn len(&self) -> usize {
        self.read().len()
    }

    /// Whether nothing is cached.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of JSON that are cached.
    pub fn bytes(&self) -> usize {
        self.read().bytes()
    }

    /// Whether every scope has had its first complete list.
    pub fn is_synced(&self) -> bool {
        self.read().is_synced(None)
    }

    /// Whether a scope has had its first complete list.
    pub fn is_scope_synced(&self, scope: ScopeId) -> bool {
        self.read().is_scope_synced(scope)
    }

    /// Whether absence from the store is good enough a reason to delete: in this namespace, or for
    /// `None` in any.
    pub fn may_delete(&self, namespace: Option<&str>) -> bool {
        self.read().may_delete(namespace)
    }

    /// The version up to which the store is complete; `None` before its first list.
    pub fn version(&self) -> Option<ResourceVersion> {
        self.read().version().cloned()
    }

    /// The objects that were shown and cannot be read, by key.
    pub fn undecodable(&self) -> Vec<Undecodable> {
        self.read().undecodable.iter().cloned().collect()
    }

    /// The first hundred of them.
    pub fn first_undecodable(&self) -> Vec<Undecodable> {
        self.read().undecodable.iter().take(undecodable::SHOWN).cloned().collect()
    }

    /// How many of them are in namespaces of which this says so.
    pub fn count_undecodable(&self, is_here: impl Fn(Option<&str>) -> bool) -> usize {
        self.read().undecodable.count(is_here)
    }

    /// Those of a parent.
    pub fn undecodable_children_of(&self, parent: &Uid) -> Vec<Undecodable> {
        self.read().undecodable.of_parent(parent).cloned().collect()
    }

    /// The object with this key, if it, or a newer version of what is cached, cannot be read.
    pub fn undecodable_at(&self, key: &ObjectKey) -> Option<Undecodable> {
        self.read().undecodable.get(key).cloned()
    }

    /// The uids that it names as its parents as far as it can be read, or named when it could be.
    pub fn parents_of(&self, object: &Undecodable) -> BTreeSet<Uid> {
        self.read().parents_of_undecodable(object)
    }

    pub(super) fn read(&self) -> RwLockReadGuard<'_, Contents> {
        self.contents.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for StoreReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreReader({})", self.ty)
    }
}

#[cfg(test)]
mod tests;
