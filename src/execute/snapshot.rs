//! The snapshot of a machine: the current caches.

use std::sync::Arc;

use super::Context;
use crate::{
    object::{K8sType, Object, ObjectKey, Uid, Undecodable},
    operator::Children,
    plan::{ChildId, Unsynced},
    reply::TypeSchema,
    run::{Sibling, Snapshot},
    store::Store,
};

impl Snapshot for Context {
    fn parent(&self, key: &ObjectKey, uid: &Uid) -> Option<Object> {
        self.parts.parents.reader().get(key).filter(|parent| parent.uid() == uid)
    }

    fn parent_with(&self, uid: &Uid) -> Option<Object> {
        self.parts.parents.reader().objects().into_iter().find(|parent| parent.uid() == uid)
    }

    fn cached(&self, id: &ChildId) -> Option<Object> {
        self.store(&id.ty)?.reader().get(&id.key)
    }

    fn observed(&self, parent: &Object) -> Children {
        let of_store = |store: &Store| {
            let reader = store.reader();
            (reader.ty().clone(), reader.of_parent(parent.uid()))
        };
        Children::new(self.parts.children.iter().map(of_store))
    }

    fn is_undecodable(&self, id: &ChildId) -> bool {
        self.store(&id.ty).is_some_and(|store| store.reader().undecodable_at(&id.key).is_some())
    }

    fn undecodable_children(&self, parent: &Object) -> Vec<Undecodable> {
        let children = self.parts.children.iter();
        children.flat_map(|store| store.reader().undecodable_children_of(parent.uid())).collect()
    }

    /// All child types, if the parent itself may be outdated. A child of another namespace than its parent is known
    /// where its own namespace is listed.
    fn unsynced(&self, parent: &Object) -> Unsynced {
        let (config, is_old) = (self.settings.config(), self.may_be_old(parent));
        let mut unsynced = Unsynced::default();
        for reader in self.parts.children.iter().map(Store::reader) {
            let ty = reader.ty();
            let is_anywhere = config.deleted_with_finalizer().any(|anywhere| anywhere == ty);
            let may_delete = match config.namespaces.names() {
                _ if !is_anywhere => reader.may_delete(parent.namespace()),
                // Namespaces that only other operators watch do not matter.
                Some(names) if ty.is_namespaced() => {
                    let is_unknown = |name: &&String| !reader.may_delete(Some(name));
                    unsynced.add_in(ty, names.iter().filter(is_unknown).cloned().collect());
                    true
                }
                Some(_) | None => reader.may_delete(None),
            };
            if is_old || !may_delete {
                unsynced.extend([ty.clone()]);
            }
        }
        unsynced
    }

    fn may_be_old(&self, parent: &Object) -> bool {
        !self.parts.parents.reader().may_delete(parent.namespace())
    }

    fn siblings(&self, parent: &Object) -> Vec<Sibling> {
        self.parts.parent_types.siblings(&self.settings, parent)
    }

    fn is_paused(&self) -> bool {
        self.has_paused()
    }

    fn unavailable(&self, parent: &ObjectKey) -> Option<String> {
        self.why_unavailable(parent.namespace.as_deref())
    }

    fn spare(&self) -> usize {
        self.parts.requests.spare()
    }

    fn count_children(&self) -> usize {
        let label = &self.settings.config().labels.managed_by;
        let is_ours = |child: &Object| child.label(label).as_deref() == Some(self.name().as_str());
        let count = |store: &Store| store.reader().list().into_iter().filter(is_ours).count();
        self.parts.children.iter().map(count).sum()
    }

    fn fresh_schema(&self) -> Option<Arc<TypeSchema>> {
        self.schema.fresh()
    }

    fn known_schema(&self, ty: &K8sType) -> Option<Arc<TypeSchema>> {
        if *ty == self.config().parent {
            return self.schema.last_known();
        }
        self.other_schemas.of(ty).fresh()
    }
}
