//! One type of a small API server: its objects, and the log of all changes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::super::Store;
use crate::object::{K8sType, KeptManagers, Object, ObjectKey, ResourceVersion, Uid, Undecodable};

pub(super) const LABEL: &str = "parent-uid";

/// An object as the server stores it.
#[expect(clippy::struct_excessive_bools, reason = "each is independent")]
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Held {
    pub(super) uid: String,
    pub(super) version: u64,
    pub(super) parent: usize,
    /// Whether it has the selected label.
    pub(super) is_selected: bool,
    pub(super) is_readable: bool,
    pub(super) has_finalizer: bool,
    pub(super) is_deleting: bool,
    /// No two writes leave the same text.
    pub(super) nonce: u64,
}

/// What a watch or a read shows of an object.
#[derive(Debug, Clone)]
pub(super) enum Shown {
    Object(Object),
    Unreadable(Undecodable),
}

/// One change, as a watch with the selector shows it.
#[derive(Debug, Clone)]
pub(super) enum Event {
    Changed(Shown),
    Deleted(Shown),
}

/// What a watch covers.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch {
    /// The namespace; `None` for all.
    pub(super) namespace: Option<String>,
    /// Whether it has no selector.
    pub(super) is_wide: bool,
}

#[derive(Debug, Clone)]
struct Entry {
    version: u64,
    key: ObjectKey,
    before: Option<Held>,
    after: Option<Held>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Server {
    pub(super) version: u64,
    pub(super) objects: BTreeMap<ObjectKey, Held>,
    log: Vec<Entry>,
    pub(super) nonce: u64,
}

pub(super) fn ty() -> K8sType {
    K8sType::namespaced("v1", "ConfigMap", "configmaps")
}

pub(super) fn parent(number: usize) -> Uid {
    Uid::new(&format!("parent-{number}"))
}

impl Server {
    /// Stores the result of `change`; `None` deletes the object.
    pub(super) fn write(
        &mut self,
        key: &ObjectKey,
        change: impl FnOnce(Option<Held>) -> Option<Held>,
    ) {
        let before = self.objects.get(key).cloned();
        self.version += 1;
        self.nonce += 1;
        let (version, nonce) = (self.version, self.nonce);
        let after = change(before.clone()).map(|held| Held { version, nonce, ..held });
        match &after {
            Some(held) => self.objects.insert(key.clone(), held.clone()),
            None => self.objects.remove(key),
        };
        self.log.push(Entry { version, key: key.clone(), before, after });
    }

    pub(super) fn created(&mut self, parent: usize) -> Held {
        self.nonce += 1;
        Held {
            uid: format!("uid-{}", self.nonce),
            version: 0,
            parent,
            is_selected: true,
            is_readable: true,
            has_finalizer: false,
            is_deleting: false,
            nonce: 0,
        }
    }

    /// Restores a backup: later versions are assigned again, or continue far above.
    pub(super) fn restore(&mut self, backup: &Self, is_bumped: bool) {
        let nonce = self.nonce;
        let version = if is_bumped { self.version + 1_000 } else { backup.version };
        *self = Self { version, nonce, ..backup.clone() };
    }

    /// The objects that a watch shows.
    pub(super) fn list(&self, watch: &Watch) -> Vec<(ObjectKey, Shown)> {
        let objects = self.objects.iter().filter(|(key, held)| watch.shows(key, held));
        objects.map(|(key, held)| (key.clone(), shown(key, held, held.version))).collect()
    }

    /// The first event of a watch after a version, with its version.
    pub(super) fn next(&self, watch: &Watch, after: u64) -> Option<(u64, ObjectKey, Event)> {
        let mut later = self.log.iter().filter(|entry| entry.version > after);
        later.find_map(|entry| Some((entry.version, entry.key.clone(), event(entry, watch)?)))
    }

    /// What a read of one object shows.
    pub(super) fn read(&self, key: &ObjectKey) -> Option<Shown> {
        self.objects.get(key).map(|held| shown(key, held, held.version))
    }
}

impl Watch {
    fn shows(&self, key: &ObjectKey, held: &Held) -> bool {
        let is_here =
            self.namespace.is_none() || self.namespace.as_deref() == key.namespace.as_deref();
        is_here && (self.is_wide || held.is_selected)
    }
}

fn event(entry: &Entry, watch: &Watch) -> Option<Event> {
    let Entry { version, key, before, after } = entry;
    let selected = |held: &Option<Held>| held.clone().filter(|held| watch.shows(key, held));
    match (selected(before), selected(after)) {
        (_, Some(after)) => Some(Event::Changed(shown(key, &after, *version))),
        (Some(before), None) => Some(Event::Deleted(shown(key, &before, *version))),
        (None, None) => None,
    }
}

fn shown(key: &ObjectKey, held: &Held, version: u64) -> Shown {
    let mut value = json!({"metadata": {
        "name": key.name, "namespace": key.namespace, "uid": held.uid,
        "resourceVersion": version.to_string(),
        "labels": {LABEL: parent(held.parent).to_string()},
    }, "data": {"of": held.nonce.to_string()}});
    if held.is_readable {
        return Shown::Object(object(&value));
    }
    value["metadata"]["generation"] = json!("odd");
    Shown::Unreadable(Undecodable::read(&ty(), &value.to_string(), "odd".to_owned()))
}

fn object(value: &Value) -> Object {
    Object::from_value(&ty(), value, &KeptManagers::default()).unwrap()
}

pub(super) fn number(version: u64) -> ResourceVersion {
    ResourceVersion::Number(version)
}

/// A store of this type.
pub(super) fn store() -> Store {
    Store::new(ty(), [LABEL.to_owned()].into())
}
