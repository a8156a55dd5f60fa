//! Takes the snapshot of a step: the caches at one revision, what is certain of them, and the state of the operator.

use std::{collections::BTreeMap, sync::Arc};

use super::Context;
use crate::{
    object::{K8sType, Object, ObjectKey, Uid, Undecodable},
    plan::{ChildId, Unsynced, is_in_bucket},
    reply::TypeSchema,
    run::{Doubts, Schemas, Snapshot},
    store::{Frozen, Store, StoreReader},
};

impl Context {
    /// The state of this moment, for a reconcile of this parent.
    pub(super) fn snapshot(&self, parent: &ObjectKey, uid: &Uid) -> Snapshot {
        let stores = std::iter::once(&self.parts.parents).chain(&self.parts.children);
        let readers = stores.map(Store::reader).collect();
        let (objects, doubts) = Frozen::of(readers, |readers| match readers {
            [parents, children @ ..] => self.doubts(parents, children, parent, uid),
            [] => Doubts::default(),
        });
        let ty = &self.config().parent;
        Snapshot {
            objects,
            doubts,
            schemas: self.schemas_now(),
            others: self.parts.parent_types.others(self.name(), ty),
            pause: self.pause_now(),
            unavailable: self.why_unavailable(parent.namespace.as_deref()),
            sets_labels: self.labelling.is_due(uid),
            spare: self.parts.requests.spare(),
            ..Snapshot::default()
        }
    }

    fn doubts(
        &self,
        parents: &StoreReader,
        children: &[StoreReader],
        parent: &ObjectKey,
        uid: &Uid,
    ) -> Doubts {
        let namespace = parent.namespace.as_deref();
        let may_be_old = !parents.may_delete(namespace);
        let undecodable = children.iter().flat_map(|it| it.undecodable_children_of(uid));
        let named = |object: Undecodable| {
            Some(ChildId { ty: object.ty().clone(), key: object.key()?.clone() })
        };
        Doubts {
            is_parent_undecodable: parents.undecodable_at(parent).is_some(),
            may_be_old,
            undecodable: undecodable.filter_map(named).collect(),
            unsynced: self.unsynced(children, namespace, may_be_old),
        }
    }

    /// All child types, if the parent itself may be outdated. A child of another namespace than its parent is known
    /// where its own namespace is listed.
    fn unsynced(
        &self,
        children: &[StoreReader],
        namespace: Option<&str>,
        is_old: bool,
    ) -> Unsynced {
        let mut unsynced = Unsynced::default();
        for reader in children {
            let ty = reader.ty();
            let is_anywhere = self.config().deleted_with_finalizer().any(|anywhere| anywhere == ty);
            let may_delete = match self.config().namespaces.names() {
                _ if !is_anywhere => reader.may_delete(namespace),
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

    fn schemas_now(&self) -> Schemas {
        let config = self.config();
        let children = config.children.iter().map(|child| &child.ty);
        let related = config.related.iter().map(|related| &related.ty);
        let others = children.chain(related).filter(|ty| ty.may_be_custom());
        let known_one = |ty: &K8sType| Some((ty.clone(), self.other_schemas.of(ty).fresh()?));
        let mut known: BTreeMap<K8sType, Arc<TypeSchema>> = others.filter_map(known_one).collect();
        known.extend(self.schema.last_known().map(|schema| (config.parent.clone(), schema)));
        let custom = config.children.iter().map(|child| &child.ty).filter(|ty| ty.may_be_custom());
        let defaults =
            custom.filter_map(|ty| Some((ty.clone(), self.other_schemas.of(ty).defaults()?)));
        Schemas { fresh: self.schema.fresh(), known, defaults: defaults.collect() }
    }

    /// The cached parent, if it is still the one with this uid.
    pub(super) fn parent(&self, key: &ObjectKey, uid: &Uid) -> Option<Object> {
        self.parts.parents.reader().get(key).filter(|parent| parent.uid() == uid)
    }

    pub(super) fn cached(&self, id: &ChildId) -> Option<Object> {
        self.store(&id.ty)?.reader().get(&id.key)
    }

    /// How many children of a parent lack the label of its bucket.
    pub(crate) fn unlabelled(&self, parent: &Object) -> usize {
        let stores = self.parts.children.iter();
        let children = stores.flat_map(|store| store.reader().of_parent(parent.uid()));
        let lacks = |child: &Object| {
            self.settings.manages(child) && !is_in_bucket(child, self.config(), parent)
        };
        children.filter(lacks).count()
    }

    /// The number of children of the operator; reads all of them.
    pub(super) fn count_children(&self) -> usize {
        let is_ours = |child: &Object| self.settings.manages(child);
        let count = |store: &Store| store.reader().objects().into_iter().filter(is_ours).count();
        self.parts.children.iter().map(count).sum()
    }
}
