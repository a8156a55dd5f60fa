//! Objects that end: by the event of a watch, or by the reply to a delete.

use super::{
    super::{departed::Departure, scope::ScopeId},
    Change, Contents,
    tombstone::Tombstone,
};
use crate::object::{Object, ObjectKey, ResourceVersion, Uid};

impl Contents {
    /// Whether an object that is not cached was changed or deleted after a version.
    pub(in crate::store) fn has_left_since(&self, uid: &Uid, version: &ResourceVersion) -> bool {
        self.tombstones.contains_key(uid) || self.departed.is_later_than(uid, version)
    }

    /// Whether a later scope in sync shows a namespace with another selector, which is wider: what a scope lacks may
    /// only be outside of its own selector.
    pub(super) fn is_overruled(&self, scope: ScopeId, namespace: Option<&str>) -> bool {
        let Some(state) = self.scopes.get(scope) else { return true };
        let mut later = self.scopes.after(scope).filter(|(_, later)| later.covers(namespace));
        later.any(|(_, later)| later.is_synced && later.selector != state.selector)
    }

    pub(in crate::store) fn observe_deletion(
        &mut self,
        scope: ScopeId,
        object: &Object,
    ) -> Option<Change> {
        self.observe_end(scope, object.key(), object.uid(), object.resource_version())
    }

    pub(in crate::store) fn observe_end(
        &mut self,
        scope: ScopeId,
        key: &ObjectKey,
        uid: &Uid,
        version: &ResourceVersion,
    ) -> Option<Change> {
        self.bookmark(scope, version);
        self.observe_end_within_list(scope, key, uid, version)
    }

    pub(in crate::store) fn observe_deletion_within_list(
        &mut self,
        scope: ScopeId,
        object: &Object,
    ) -> Option<Change> {
        self.observe_end_within_list(scope, object.key(), object.uid(), object.resource_version())
    }

    /// Records the end of an object; also before a list is complete, when the scope may still lack
    /// older versions.
    pub(in crate::store) fn observe_end_within_list(
        &mut self,
        scope: ScopeId,
        key: &ObjectKey,
        uid: &Uid,
        version: &ResourceVersion,
    ) -> Option<Change> {
        // It may only have left the selector of a scope that has ended.
        let selector = self.scopes.get(scope)?.selector.clone();
        if self.tombstones.get(uid).is_some_and(|it| !version.is_older_than(&it.version)) {
            self.tombstones.remove(uid);
        }
        self.departed.remember(uid, Departure::at(version.clone(), selector));
        if self.is_overruled(scope, key.namespace.as_deref()) {
            return None;
        }
        self.undecodable.has_gone(key, uid, Some(version));
        let cached = self.get(key)?;
        let is_stale = version.is_older_than(cached.resource_version());
        (cached.uid() == uid && !is_stale).then(|| self.remove(key))?
    }

    /// Records the reply to a final delete, which has no version.
    pub(in crate::store) fn mark_deleted(&mut self, key: &ObjectKey, uid: &Uid) -> Option<Change> {
        self.undecodable.has_gone(key, uid, None);
        // Not cached: the watch was faster than the reply and will not show the uid again.
        let cached = self.get(key).filter(|cached| cached.uid() == uid)?;
        let version = cached.resource_version().clone();
        self.clock += 1;
        let tombstone = Tombstone { key: key.clone(), version, created: self.clock };
        self.tombstones.insert(uid.clone(), tombstone);
        self.remove(key)
    }
}
