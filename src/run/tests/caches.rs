//! The caches of a machine: updated by replies at once and by the watch when a test says so; and the triggers
//! for the parent.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::json;

use super::world::{PARENT_UID, World, named, parent_type};
use crate::{
    object::{K8sType, Object, ObjectKey, SecretFields, Uid, Undecodable},
    operator::{Asks, Children},
    plan::{ChildId, Unsynced},
    related::Answer,
    reply::{StatusSchema, TypeSchema},
    run::{Cache, Settings, Sibling, Snapshot},
    schedule::Trigger,
};

/// The caches of an operator.
pub(super) struct Caches {
    pub(super) settings: Arc<Settings>,
    objects: BTreeMap<ChildId, Object>,
    pub(super) is_paused: bool,
    /// The schema of the parents, if read.
    pub(super) schema: Option<Arc<TypeSchema>>,
    published: Option<Arc<TypeSchema>>,
    unsynced: BTreeSet<K8sType>,
    undecodable: BTreeMap<ChildId, Undecodable>,
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
        let (objects, is_paused, touched, unsynced) = <_>::default();
        let (undecodable, unavailable, related_unavailable, related_pending) = <_>::default();
        let (schema, published) = (Some(schema()), Some(schema()));
        Self {
            settings,
            objects,
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
        self.objects.remove(id);
    }

    /// The newest version of an object could not be decoded.
    pub(super) fn leave_out(&mut self, id: &ChildId, world: &World) {
        let text = world.get(id).map(ToString::to_string).unwrap_or_default();
        let undecodable = Undecodable::read(&id.ty, &text, "odd".to_owned());
        self.undecodable.insert(id.clone(), undecodable);
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
            self.objects.remove(&id);
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
        let before = self.objects.insert(id, object.clone());
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
        is_it.then(|| self.objects.remove(id)).map(|_| Trigger::ChildGone)
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
    pub(super) fn related(&self, asks: &Asks) -> Answer {
        if let Some(why) = &self.related_unavailable {
            return Answer::Unavailable(why.clone());
        }
        if self.related_pending {
            return Answer::Pending("Secret.v1 ns/ca".to_owned());
        }
        let types = self.settings.config().related.iter().map(|related| {
            let asked: Vec<_> = asks.iter().filter(|(ty, _)| *ty == related.ty).collect();
            let is_asked = |object: &&Object| asked.iter().any(|(_, ask)| ask.includes(object));
            let of_type = self.objects.values().filter(|object| *object.ty() == related.ty);
            (related.ty.clone(), of_type.filter(is_asked).cloned().collect())
        });
        Answer::Objects(Children::new(types))
    }
}

impl Snapshot for Caches {
    fn parent(&self, key: &ObjectKey, uid: &Uid) -> Option<Object> {
        let id = ChildId { ty: parent_type(), key: key.clone() };
        self.cached(&id).filter(|parent| parent.uid() == uid)
    }

    fn parent_with(&self, uid: &Uid) -> Option<Object> {
        let is_it = |object: &&Object| *object.ty() == parent_type() && object.uid() == uid;
        self.objects.values().find(is_it).cloned()
    }

    fn siblings(&self, _: &Object) -> Vec<Sibling> {
        Vec::new()
    }

    fn cached(&self, id: &ChildId) -> Option<Object> {
        self.objects.get(id).cloned()
    }

    fn observed(&self, parent: &Object) -> Children {
        let label = &self.settings.config().labels.parent_uid;
        let names = |child: &&Object| {
            child.controller() == Some(parent.uid())
                || child.label(label).as_deref() == Some(PARENT_UID)
        };
        let of_type = |ty: &K8sType| {
            let children = self.objects.values().filter(|child| child.ty() == ty).filter(names);
            (ty.clone(), children.cloned().collect())
        };
        Children::new(self.settings.config().children.iter().map(|child| of_type(&child.ty)))
    }

    fn is_undecodable(&self, id: &ChildId) -> bool {
        self.undecodable.contains_key(id)
    }

    fn undecodable_children(&self, _: &Object) -> Vec<Undecodable> {
        let of_child = |(id, object): (&ChildId, &Undecodable)| {
            (id.ty != parent_type()).then(|| object.clone())
        };
        self.undecodable.iter().filter_map(of_child).collect()
    }

    fn unsynced(&self, parent: &Object) -> Unsynced {
        let declared = self.settings.config().children.iter().map(|child| child.ty.clone());
        let is_old = self.may_be_old(parent);
        declared.filter(|ty| is_old || self.unsynced.contains(ty)).collect()
    }

    fn may_be_old(&self, parent: &Object) -> bool {
        self.unsynced.contains(parent.ty())
    }

    fn is_paused(&self) -> bool {
        self.is_paused
    }

    fn unavailable(&self, _: &ObjectKey) -> Option<String> {
        self.unavailable.clone()
    }

    fn spare(&self) -> usize {
        self.spare
    }

    fn count_children(&self) -> usize {
        self.objects.keys().filter(|id| id.ty != parent_type()).count()
    }

    fn fresh_schema(&self) -> Option<Arc<TypeSchema>> {
        self.schema.clone()
    }

    /// The other types mark nothing.
    fn known_schema(&self, ty: &K8sType) -> Option<Arc<TypeSchema>> {
        if *ty == parent_type() { self.schema.clone() } else { Some(schema()) }
    }
}
