//! What requests have shown enters the cache at once, and is told to all whom it concerns: a run reads
//! its own writes. Nothing enters of which no watch would tell what becomes of it.

use super::{Context, Origin, Report};
use crate::{
    cluster::ApiError,
    object::{K8sType, Object, ObjectKey, Uid},
    store::Change,
};

impl Context {
    /// Takes the reply to a write into the cache, and tells the others.
    pub(super) fn learn(&self, parent: &Object, reply: Object) {
        self.overlay(reply, Some(self.origin(parent)));
    }

    /// Takes what was read live into the cache, and tells everyone: what others changed is in it,
    /// and its event will be ignored as old.
    pub(super) fn learn_live(&self, live: Object) {
        self.overlay(live, None);
    }

    /// The same of an object that is left alone: one of which no watch tells is to be looked at again.
    pub(super) fn learn_left(&self, live: Object, report: &mut Report) {
        report.unwatched += usize::from(!self.is_watched(&live));
        self.learn_live(live);
    }

    /// Takes the end of an object into the cache, and tells the others.
    pub(super) fn learn_gone(&self, parent: &Object, ty: &K8sType, key: &ObjectKey, uid: &Uid) {
        let change = self.store(ty).and_then(|store| store.bury(key, uid));
        self.publish(ty, change, Some(self.origin(parent)));
    }

    /// Takes in that an object which others deleted is gone, and tells everyone.
    pub(super) fn learn_absent(&self, ty: &K8sType, key: &ObjectKey, uid: &Uid) {
        let change = self.store(ty).and_then(|store| store.bury(key, uid));
        self.publish(ty, change, None);
    }

    /// Whether a watch will say what becomes of an object. One with a selector would never say that
    /// an object is gone which does not match.
    pub(super) fn is_watched(&self, object: &Object) -> bool {
        let is_parent = *object.ty() == self.config().parent;
        (is_parent && (self.sees_all_parents() || self.selects(object)))
            || object.label(&self.config().labels.managed_by).as_deref()
                == Some(&*self.config().name)
    }

    /// What is wrong with a child of which no watch would tell.
    pub(super) fn unlabelled(&self) -> ApiError {
        ApiError::Unlabelled { label: self.config().labels.managed_by.clone() }
    }

    fn overlay(&self, object: Object, origin: Option<Origin>) {
        let ty = object.ty().clone();
        if self.is_watched(&object) {
            let change = self.store(&ty).and_then(|store| store.overlay(object));
            self.publish(&ty, change, origin);
        }
    }

    fn origin(&self, parent: &Object) -> Origin {
        Origin { operator: self.name().clone(), parent: parent.uid().clone() }
    }

    fn publish(&self, ty: &K8sType, change: Option<Change>, origin: Option<Origin>) {
        if let Some(change) = change {
            self.tell(ty, change, origin);
        }
    }
}
