//! Applies replies to the caches at once, and wakes the parents concerned: a reconcile reads its own writes.
//! Only objects that a watch covers are cached.

use super::{Context, Origin};
use crate::{
    object::{K8sType, Object},
    run::Cache,
    store::Change,
};

impl Context {
    /// Changes the caches. The parent of the reconcile is not woken by its own writes.
    pub(super) fn cache(&self, parent: Option<&Object>, cache: Cache) {
        let origin = || {
            let parent = parent?.uid().clone();
            Some(Origin { operator: self.name().clone(), parent })
        };
        match cache {
            Cache::Wrote(reply) => self.overlay(reply, origin()),
            Cache::Saw(live) => self.overlay(live, None),
            Cache::Deleted(id, uid) => {
                let change = self.store(&id.ty).and_then(|store| store.mark_deleted(&id.key, &uid));
                self.publish(&id.ty, change, origin());
            }
            Cache::Absent(id, uid) => {
                let change = self.store(&id.ty).and_then(|store| store.mark_deleted(&id.key, &uid));
                self.publish(&id.ty, change, None);
            }
        }
    }

    fn overlay(&self, object: Object, origin: Option<Origin>) {
        if self.settings.is_watched(&object) {
            let ty = object.ty().clone();
            let change = self.store(&ty).and_then(|store| store.overlay(object));
            self.publish(&ty, change, origin);
        }
    }

    fn publish(&self, ty: &K8sType, change: Option<Change>, origin: Option<Origin>) {
        if let Some(change) = change {
            self.notify(ty, change, origin);
        }
    }
}
