//! The caches of a machine: updated by replies at once and by the watch when a test says so; and the triggers
//! for the parent.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::json;

use super::world::{World, named, parent_type};
use crate::{
    object::{K8sType, Object, ResourceVersion, SecretFields, Uid},
    operator::{Asks, Children},
    plan::ChildId,
    related::FoundRelated,
    reply::{StatusSchema, TypeSchema},
    run::{Cache, Doubts, Schemas, Settings, Snapshot},
    schedule::Trigger,
    store::{Frozen, Revisions, Store, StoreReader},
};

/// The caches of an operator.
pub(super) struct Caches {
    pub(super) settings: Arc<Settings>,
    objects: BTreeMap<ChildId, Object>,
    /// Stores with these objects, once they are read.
    readers: OnceCell<Vec<StoreReader>>,
    pub(super) is_paused: bool,
    /// The schema of the parents, if read.
    pub(super) schema: Option<Arc<TypeSchema>>,
    published: Option<Arc<TypeSchema>>,
    unsynced: BTreeSet<K8sType>,
    undecodable: BTreeSet<ChildId>,
    pub(super) unavailable: Option<String>,
    pub(super) related_unavailable: Option<String>,
    pub(super) related_pending: bool,
    /// How many more requests may be sent concurrently.
    pub(super) spare: usize,
    /// The strongest trigger that was not delivered yet.
    pub(super) touched: Option<Trigger>,
}

impl Caches {
    pub(super) fn new(settings: Arc<Settings>) -> Self {
        let (objects, readers, is_paused, touched, unsynced) = <_>::default();
        let (undecodable, unavailable, related_unavailable, related_pending) = <_>::default();
        let (schema, published) = (Some(schema()), Some(schema()));
        Self {
            settings,
            objects,
            readers,
            is_paused,
            schema,
            published,
            unsynced,
            undecodable,
            unavailable,
            related_unavailable,
            related_pending,
            spare: 7,
            touched,
        }
    }

    /// The server publishes another schema, or none yet.
    pub(super) fn publish(&mut self, schema: Option<Arc<TypeSchema>>) {
        (self.schema, self.published) = (schema.clone(), schema);
    }

    pub(super) fn read_schema(&mut self) {
        self.schema.clone_from(&self.published);
    }

    /// The types of these objects are not synced any more.
    pub(super) fn unsync(&mut self, names: &str) {
        self.unsynced.extend(names.split_whitespace().map(|name| named(name).ty));
    }

    /// A type is not synced any more.
    pub(super) fn unsync_type(&mut self, ty: K8sType) {
        self.unsynced.insert(ty);
    }

    /// All types are synced again.
    pub(super) fn sync(&mut self) {
        self.unsynced.clear();
    }

    /// An outdated list hides an object.
    pub(super) fn hide(&mut self, id: &ChildId) {
        self.objects_mut().remove(id);
    }

    /// The newest version of an object could not be decoded.
    pub(super) fn mark_undecodable(&mut self, id: &ChildId) {
        self.undecodable.insert(id.clone());
    }

    /// Applies a reply of a reconcile. Own writes do not trigger the parent.
    pub(super) fn learn(&mut self, cache: Cache) {
        let (touched, is_own) = match cache {
            Cache::Wrote(object) => (self.insert(&object), true),
            Cache::Saw(object) => (self.insert(&object), false),
            Cache::Deleted(id, uid) => (self.mark_deleted(&id, &uid), true),
            Cache::Absent(id, uid) => (self.mark_deleted(&id, &uid), false),
        };
        self.touched = self.touched.max(touched.filter(|_| !is_own));
    }

    /// All watches deliver their pending events.
    pub(super) fn watch(&mut self, world: &World) {
        self.watch_some(world, |_| true);
    }

    /// The watches of some types deliver their pending events.
    pub(super) fn watch_some(&mut self, world: &World, is_due: impl Fn(&K8sType) -> bool) {
        let is_watched = |object: &Object| self.settings.is_watched(object);
        // For a watch, an object that no longer matches its selector is deleted.
        let is_gone = |id: &&ChildId| {
            is_due(&id.ty) && world.object(id).is_none_or(|object| !is_watched(&object))
        };
        let gone: Vec<_> = self.objects.keys().filter(is_gone).cloned().collect();
        for id in gone {
            self.objects_mut().remove(&id);
            self.touched = self.touched.max(Some(Trigger::ChildGone));
        }
        for (id, object) in world.objects().filter(|(id, _)| is_due(&id.ty)) {
            if self.objects.get(id) != Some(object) {
                let touched = self.insert(object);
                self.touched = self.touched.max(touched);
            }
        }
    }

    fn insert(&mut self, object: &Object) -> Option<Trigger> {
        if !self.settings.is_watched(object) {
            return None;
        }
        let id = ChildId::of(object);
        self.undecodable.remove(&id);
        let before = self.objects_mut().insert(id, object.clone());
        match before {
            Some(before) if before == *object => None,
            _ if *object.ty() != parent_type() => Some(Trigger::ChildOrStatus),
            Some(before) if is_only_status(&before, object) => Some(Trigger::ChildOrStatus),
            _ if object.is_deleting() => Some(Trigger::Deletion),
            _ => Some(Trigger::Parent),
        }
    }

    fn mark_deleted(&mut self, id: &ChildId, uid: &Uid) -> Option<Trigger> {
        let is_it = self.objects.get(id).is_some_and(|object| object.uid() == uid);
        is_it.then(|| self.objects_mut().remove(id)).map(|_| Trigger::ChildGone)
    }
}

fn is_only_status(before: &Object, after: &Object) -> bool {
    let rest = |object: &Object| {
        (object.generation(), object.annotations(), object.finalizers(), object.is_deleting())
    };
    rest(before) == rest(after)
}

/// The schema of parents whose status may have any fields.
pub(super) fn any_status() -> Arc<TypeSchema> {
    let status = json!({"x-kubernetes-preserve-unknown-fields": true});
    let status = StatusSchema::from_open_api(Some(&status), true);
    Arc::new(TypeSchema::of(status, SecretFields::default()))
}

/// The published schema of the parents.
pub(super) fn schema() -> Arc<TypeSchema> {
    let text = json!({"type": "string"});
    let condition = json!({"type": "object", "properties": {
        "type": text, "status": text, "reason": text, "message": text,
    }});
    let status = json!({"type": "object", "properties": {
        "conditions": {"type": "array", "items": condition}, "phase": text,
    }});
    let status = StatusSchema::from_open_api(Some(&status), true);
    Arc::new(TypeSchema::of(status, SecretFields::default()))
}

impl Caches {
    /// Related objects are cached as the children are.
    pub(super) fn related(&self, asks: &Asks) -> FoundRelated {
        if let Some(why) = &self.related_unavailable {
            return FoundRelated::Unavailable(why.clone());
        }
        if self.related_pending {
            return FoundRelated::Pending("Secret.v1 ns/ca".to_owned());
        }
        let types = self.settings.config().related.iter().map(|related| {
            let asked: Vec<_> = asks.iter().filter(|(ty, _)| *ty == related.ty).collect();
            let is_asked = |object: &&Object| asked.iter().any(|(_, ask)| ask.includes(object));
            let of_type = self.objects.values().filter(|object| *object.ty() == related.ty);
            (related.ty.clone(), of_type.filter(is_asked).cloned().collect())
        });
        FoundRelated::Objects(Children::new(types))
    }
}

// === reading ===

impl Caches {
    pub(super) fn cached(&self, id: &ChildId) -> Option<Object> {
        self.objects.get(id).cloned()
    }

    pub(super) fn count_children(&self) -> usize {
        self.objects.keys().filter(|id| id.ty != parent_type()).count()
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let parent = ChildId { ty: parent_type(), key: named("parent").key };
        let children = self.settings.config().children.iter();
        let may_be_old = self.unsynced.contains(&parent_type());
        let is_unsynced = |ty: &K8sType| may_be_old || self.unsynced.contains(ty);
        let unsynced = children.clone().map(|child| child.ty.clone()).filter(is_unsynced);
        let doubts = Doubts {
            is_parent_undecodable: self.undecodable.contains(&parent),
            may_be_old,
            undecodable: self.undecodable.iter().filter(|id| **id != parent).cloned().collect(),
            unsynced: unsynced.collect(),
        };
        // The other types mark nothing.
        let known = children.map(|child| (child.ty.clone(), schema()));
        let of_parent = self.schema.clone().map(|schema| (parent_type(), schema));
        let known = known.chain(of_parent).collect();
        Snapshot {
            objects: Frozen::of(self.readers().to_vec(), |_| ()).0,
            doubts,
            schemas: Schemas { fresh: self.schema.clone(), known, ..Schemas::default() },
            pause: self.is_paused.then(Arc::default),
            unavailable: self.unavailable.clone(),
            spare: self.spare,
            ..Snapshot::default()
        }
    }

    /// Stores with the objects; the first is that of the parents.
    fn readers(&self) -> &[StoreReader] {
        self.readers.get_or_init(|| {
            let config = self.settings.config();
            let types = config.children.iter().map(|child| &child.ty);
            let types = [&config.parent].into_iter().chain(types);
            let revisions = Revisions::default();
            let store = |ty: &K8sType| {
                let labels = BTreeSet::from([config.labels.parent_uid.clone()]);
                let store = Store::sharing(&revisions, ty.clone(), labels);
                let objects = self.objects.values().filter(|object| object.ty() == ty);
                let (scope, objects) = (store.add_scope(None), objects.cloned().collect());
                let start = store.begin_list(scope);
                store.replace(scope, start, objects, &ResourceVersion::Number(u64::MAX));
                store.reader()
            };
            types.map(store).collect()
        })
    }

    fn objects_mut(&mut self) -> &mut BTreeMap<ChildId, Object> {
        self.readers.take();
        &mut self.objects
    }
}
