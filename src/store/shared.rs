//! The handles of a store: `Store` changes it, `StoreReader` reads it from anywhere.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use super::{
    Change, Filter, Hold, ListStart, Revisions, ScopeId, Settled, contents::Contents,
    revisions::Pin, undecodable,
};
use crate::{
    object::{K8sType, Object, ObjectKey, ResourceVersion, Uid, Undecodable},
    operator::Ask,
};

/// The handle that changes a store: held by its watch loops and by the code that writes to the API.
#[derive(Clone)]
pub(crate) struct Store(StoreReader);

/// The handle that reads a store. Cheap to clone; each call sees the state of that moment.
#[derive(Clone)]
pub struct StoreReader {
    ty: K8sType,
    contents: Arc<RwLock<Contents>>,
    revisions: Revisions,
}

// === Store ===

impl Store {
    /// An empty store. `parent_labels` are the labels whose value is the uid of a parent.
    pub(crate) fn new(ty: K8sType, parent_labels: BTreeSet<String>) -> Self {
        Self::sharing(&Revisions::default(), ty, parent_labels)
    }

    /// The same for a store that is read together with others.
    pub(crate) fn sharing(
        revisions: &Revisions,
        ty: K8sType,
        parent_labels: BTreeSet<String>,
    ) -> Self {
        let contents = Arc::new(RwLock::new(Contents::new(parent_labels)));
        Self(StoreReader { ty, contents, revisions: revisions.clone() })
    }

    pub(crate) fn reader(&self) -> StoreReader {
        self.0.clone()
    }

    fn write(&self) -> RwLockWriteGuard<'_, Contents> {
        let mut contents = self.0.contents.write().unwrap_or_else(PoisonError::into_inner);
        contents.begin_change(self.0.revisions.advance());
        contents
    }
}

/// Declares methods of a store that call the method of the same name on its contents, under the lock.
macro_rules! changes {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),*) $(-> $result:ty)?;)*) => {
        impl Store {
            $($(#[$doc])*
            pub(crate) fn $name(&self, $($arg: $ty),*) $(-> $result)? {
                self.write().$name($($arg),*)
            })*
        }
    };
}

changes! {
    /// Holds only what is asked for. To be called before any scope is listed.
    fn filter_by(filter: Filter);
    /// Adds an ask to the filter. The caller fetches the objects that exist.
    fn ask(ask: &Ask);
    /// Removes from what is asked for, and from the store.
    fn unask(ask: &Ask);
    /// To be called before what exists is requested, one fetch at a time.
    fn begin_fetch();
    /// Processes what exists of what was asked for; nothing after a failure.
    fn end_fetch(objects: Vec<Object>) -> Vec<Change>;
    /// Adds a watch that will feed the store; `None` covers all namespaces.
    fn add_scope(namespace: Option<String>) -> ScopeId;
    /// The same for a watch that shows only what a selector matches.
    fn add_selecting_scope(namespace: Option<String>, selector: Option<String>) -> ScopeId;
    /// The same, and these scopes end with its first list. It covers their namespaces and selectors.
    fn add_successor(
        namespace: Option<String>, selector: Option<String>, earlier: Vec<ScopeId>
    ) -> ScopeId;
    /// Ends a scope. What it still shows is ignored.
    fn end_scope(scope: ScopeId);
    /// Adds a label whose value is the uid of a parent.
    fn add_parent_label(label: &str);
    /// Deactivates a scope of one namespace: a scope of all namespaces covers it.
    fn rest(scope: ScopeId);
    /// Activates a scope of one namespace, because the scope of all namespaces cannot be fed. Both may be
    /// active for a while.
    fn use_fallback(scope: ScopeId);
    /// Records that a watch is interrupted for a longer time, or that it works again: meanwhile its
    /// objects are out of date, and no reason for deletions.
    fn cut_off(scope: ScopeId, is_cut_off: bool);
    /// Records that a check of the server has shown an earlier version than before: the next list
    /// of the scope is of the restored server, whatever its version.
    fn has_gone_back(scope: ScopeId);
    /// To be called before a list is requested, whose result is passed to [`Store::replace`].
    fn begin_list(scope: ScopeId) -> ListStart;
    /// Processes a complete list of a scope, each object once; objects that it lacks are deleted.
    fn replace(
        scope: ScopeId, start: ListStart, items: Vec<Object>, version: &ResourceVersion
    ) -> (Vec<Change>, Settled);
    /// To be called after a list of this version: drops newer objects that the scope does not select.
    fn drop_unselected(
        scope: ScopeId, listed: &ResourceVersion, selects: &dyn Fn(&Object) -> bool
    ) -> Vec<Change>;
    /// Processes an `ADDED` or `MODIFIED` event.
    fn observe(scope: ScopeId, object: Object) -> Option<Change>;
    /// Processes an `ADDED` or `MODIFIED` event by its key, uid and version alone. Returns whether they suffice,
    /// because the same version or a newer one is cached. Otherwise nothing changes.
    fn observe_echo(scope: ScopeId, key: &ObjectKey, uid: &str, version: &ResourceVersion) -> bool;
    /// Processes a `DELETED` event.
    fn observe_deletion(scope: ScopeId, object: &Object) -> Option<Change>;
    /// Processes a `DELETED` event of an undecodable object.
    fn observe_end(
        scope: ScopeId, key: &ObjectKey, uid: &Uid, version: &ResourceVersion
    ) -> Option<Change>;
    /// As `observe_deletion`, within a streamed list, which is not complete yet.
    fn observe_deletion_within_list(scope: ScopeId, object: &Object) -> Option<Change>;
    /// As `observe_end`, within a streamed list.
    fn observe_end_within_list(
        scope: ScopeId, key: &ObjectKey, uid: &Uid, version: &ResourceVersion
    ) -> Option<Change>;
    fn bookmark(scope: ScopeId, version: &ResourceVersion);
    /// Records an undecodable object. Returns whether it, or this version of it, is new.
    fn mark_undecodable(object: Undecodable) -> bool;
    /// The same as the watch of a scope shows it.
    fn mark_undecodable_by(scope: ScopeId, object: Undecodable) -> bool;
    /// Caches the object in the response to a write of ours, or to a live read.
    fn overlay(object: Object) -> Option<Change>;
    /// Processes the response to a final delete: the object is gone, and late events are ignored.
    fn mark_deleted(key: &ObjectKey, uid: &Uid) -> Option<Change>;
    /// The hold on deletions that the latest [`Settled::VersionRegressed`] of a scope began, until
    /// it is released.
    fn hold(scope: ScopeId) -> Option<Hold>;
    /// Whether deletions are held in any scope.
    fn holds_deletions() -> bool;
    /// Ends a hold on deletions, unless a later one has begun.
    fn release_deletions(hold: Hold);
}

// === StoreReader ===

impl StoreReader {
    pub(crate) fn ty(&self) -> &K8sType {
        &self.ty
    }

    pub(crate) fn get(&self, key: &ObjectKey) -> Option<Object> {
        self.read().get(key).cloned()
    }

    /// Whether an object that is not cached is known to have been changed or deleted after a version.
    pub(crate) fn has_left_since(&self, uid: &Uid, version: &ResourceVersion) -> bool {
        self.read().has_left_since(uid, version)
    }

    /// All cached objects, by key.
    pub(crate) fn list(&self) -> Vec<Object> {
        let mut objects = self.objects();
        objects.sort_unstable_by(|a, b| a.key().cmp(b.key()));
        objects
    }

    /// The same in no order.
    pub(crate) fn objects(&self) -> Vec<Object> {
        self.read().objects().cloned().collect()
    }

    /// The objects that name this uid as their controller or in a parent label.
    pub(crate) fn of_parent(&self, parent: &Uid) -> Vec<Object> {
        self.read().of_parent(parent).cloned().collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.read().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of JSON that are cached.
    pub fn bytes(&self) -> usize {
        self.read().bytes()
    }

    /// Whether every scope has had its first complete list.
    pub(crate) fn is_synced(&self) -> bool {
        self.read().is_synced(None)
    }

    pub(crate) fn is_scope_synced(&self, scope: ScopeId) -> bool {
        self.read().is_scope_synced(scope)
    }

    /// Whether absence from the store is a sufficient reason to delete: in this namespace, or for
    /// `None` in any.
    pub(crate) fn may_delete(&self, namespace: Option<&str>) -> bool {
        self.read().may_delete(namespace)
    }

    /// The version up to which the store is complete; `None` before its first list.
    pub(crate) fn version(&self) -> Option<ResourceVersion> {
        self.read().version().cloned()
    }

    /// The objects that the server showed and that cannot be decoded, by key.
    pub(crate) fn undecodable(&self) -> Vec<Undecodable> {
        self.read().undecodable.iter().cloned().collect()
    }

    /// The first hundred of them.
    pub(crate) fn first_undecodable(&self) -> Vec<Undecodable> {
        self.read().undecodable.iter().take(undecodable::SHOWN).cloned().collect()
    }

    /// How many of them are in matching namespaces.
    pub(crate) fn count_undecodable(&self, is_here: impl Fn(Option<&str>) -> bool) -> usize {
        self.read().undecodable.count(is_here)
    }

    /// Those of a parent.
    pub(crate) fn undecodable_children_of(&self, parent: &Uid) -> Vec<Undecodable> {
        self.read().undecodable.of_parent(parent).cloned().collect()
    }

    /// The object with this key, if it, or a newer version than the cached one, cannot be decoded.
    pub(crate) fn undecodable_at(&self, key: &ObjectKey) -> Option<Undecodable> {
        self.read().undecodable.get(key).cloned()
    }

    /// The uids that it names as its parents as far as it can be decoded, or named before.
    pub(crate) fn parents_of(&self, object: &Undecodable) -> BTreeSet<Uid> {
        self.read().parents_of_undecodable(object)
    }

    pub(super) fn pin(&self) -> Pin {
        self.revisions.pin()
    }

    pub(super) fn is_unchanged_since(&self, pin: &Pin) -> bool {
        self.read().revision() <= pin.revision
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
