//! The objects that the server showed and that cannot be decoded: not cached, but known by name.

use std::collections::{BTreeMap, BTreeSet};

use super::scope::ScopeId;
use crate::object::{ObjectKey, ResourceVersion, Uid, Undecodable};

/// How many are known by name: far more than a mistake in a few manifests causes. Others count as
/// absent.
const MAX: usize = 10_000;

/// How many are shown together.
pub(super) const SHOWN: usize = 100;

#[derive(Debug, Default)]
pub(super) struct UndecodableObjects(BTreeMap<ObjectKey, Entry>);

#[derive(Debug)]
struct Entry {
    object: Undecodable,
    /// The uids that it names as its parents, or named when it could be decoded.
    parents: BTreeSet<Uid>,
    shown: Vec<Shown>,
}

/// Which scope showed an object, where it was one, and the store's clock when it did so last.
pub(super) type Shown = (Option<ScopeId>, u64);

impl UndecodableObjects {
    /// Records an object. Returns whether it is new: an object, or a version of it, that was not
    /// known.
    pub(super) fn add(
        &mut self,
        object: Undecodable,
        parents: BTreeSet<Uid>,
        shown: Shown,
    ) -> bool {
        let Some(key) = object.key().cloned() else { return false };
        let known = self.0.get(&key);
        if known.is_none() && self.0.len() >= MAX {
            return false;
        }
        let is_known = known.is_some_and(|known| {
            known.object.uid() == object.uid()
                && known.object.resource_version() == object.resource_version()
        });
        let before = self.0.remove(&key).map(|entry| entry.shown).unwrap_or_default();
        let others = before.into_iter().filter(|(by, _)| *by != shown.0);
        let shown = others.chain([shown]).collect();
        self.0.insert(key, Entry { object, parents, shown });
        !is_known
    }

    pub(super) fn parents_of(&self, object: &Undecodable) -> BTreeSet<Uid> {
        let known = object.key().and_then(|key| self.0.get(key));
        let known = known.filter(|known| known.object.uid() == object.uid());
        known.map(|known| known.parents.clone()).unwrap_or_default()
    }

    pub(super) fn has_read(&mut self, key: &ObjectKey, version: &ResourceVersion) {
        let undecodable = self.0.get(key).map(|entry| entry.object.resource_version());
        if undecodable.is_some_and(|it| it.is_none_or(|it| !version.is_older_than(it))) {
            self.0.remove(key);
        }
    }

    /// Records that an object is gone, as of a version if there is one; another object may have its
    /// name, or it may be back.
    pub(super) fn has_gone(&mut self, key: &ObjectKey, uid: &Uid, at: Option<&ResourceVersion>) {
        let is_it = |entry: &Entry| {
            let is_back = at.zip(entry.object.resource_version());
            entry.object.uid().is_none_or(|known| known == uid)
                && !is_back.is_some_and(|(gone, back)| gone.is_older_than(back))
        };
        if self.0.get(key).is_some_and(is_it) {
            self.0.remove(key);
        }
    }

    /// Keeps the objects that are present according to a list.
    pub(super) fn settle(
        &mut self,
        is_present: impl Fn(&ObjectKey, Option<&ResourceVersion>, &[Shown]) -> bool,
    ) {
        let is_kept = |key: &ObjectKey, entry: &mut Entry| {
            is_present(key, entry.object.resource_version(), &entry.shown)
        };
        self.0.retain(is_kept);
    }

    /// Knows the parents that this label names, too.
    pub(super) fn add_parent_label(&mut self, label: &str) {
        for Entry { object, parents, .. } in self.0.values_mut() {
            let named = object.labels().and_then(|labels| labels.get(label));
            parents.extend(named.map(|uid| Uid::new(uid)));
        }
    }

    /// A scope has ended.
    pub(super) fn forget_scope(&mut self, scope: ScopeId) {
        for entry in self.0.values_mut() {
            entry.shown.retain(|(by, _)| *by != Some(scope));
        }
    }

    /// Forgets the objects in namespaces that nothing shows any more.
    pub(super) fn retain(&mut self, is_covered: impl Fn(Option<&str>) -> bool) {
        self.0.retain(|key, _| is_covered(key.namespace.as_deref()));
    }

    pub(super) fn has(&self, key: &ObjectKey) -> bool {
        self.0.contains_key(key)
    }

    pub(super) fn get(&self, key: &ObjectKey) -> Option<&Undecodable> {
        self.0.get(key).map(|entry| &entry.object)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Undecodable> {
        self.0.values().map(|entry| &entry.object)
    }

    /// How many are in matching namespaces.
    pub(super) fn count(&self, is_here: impl Fn(Option<&str>) -> bool) -> usize {
        self.0.keys().filter(|key| is_here(key.namespace.as_deref())).count()
    }

    pub(super) fn of_parent(&self, parent: &Uid) -> impl Iterator<Item = &Undecodable> {
        let is_of = |entry: &&Entry| entry.parents.contains(parent);
        self.0.values().filter(is_of).map(|entry| &entry.object)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        object::{K8sType, KeptManagers, Object},
        store::Store,
    };

    fn undecodable(name: &str, version: u64) -> Undecodable {
        let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        let metadata =
            json!({"name": name, "namespace": "ns", "resourceVersion": version.to_string()});
        Undecodable::read(&ty, &json!({"metadata": metadata}).to_string(), "odd".to_owned())
    }

    fn none() -> BTreeSet<Uid> {
        BTreeSet::new()
    }

    fn key(name: &str) -> ObjectKey {
        ObjectKey::namespaced("ns", name)
    }

    fn version(number: u64) -> ResourceVersion {
        ResourceVersion::Number(number)
    }

    #[test]
    fn a_version_is_new_once() {
        let mut known = UndecodableObjects::default();
        assert!(known.add(undecodable("a", 1), none(), (None, 1)));
        assert!(!known.add(undecodable("a", 1), none(), (None, 2)));
        assert!(known.add(undecodable("a", 2), none(), (None, 3)));
        assert!(known.add(undecodable("b", 2), none(), (None, 3)));
        let nameless = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        assert!(!known.add(Undecodable::unknown(&nameless, String::new()), none(), (None, 4)));
        assert_eq!(known.iter().count(), 2);
    }

    #[test]
    fn objects_that_are_decoded_or_deleted_are_forgotten() {
        let mut known = UndecodableObjects::default();
        known.add(undecodable("a", 5), none(), (None, 1));
        known.add(undecodable("b", 5), none(), (None, 1));
        known.has_read(&key("a"), &version(4));
        assert!(known.get(&key("a")).is_some(), "an older version does not count");
        known.has_read(&key("a"), &version(6));
        known.has_gone(&key("b"), &Uid::new("u"), Some(&version(4)));
        assert!(known.get(&key("b")).is_some(), "it came back");
        known.has_gone(&key("b"), &Uid::new("u"), Some(&version(5)));
        assert_eq!(known.iter().count(), 0);
    }

    #[test]
    fn a_list_removes_the_objects_that_it_does_not_show() {
        let mut known = UndecodableObjects::default();
        known.add(undecodable("before", 5), none(), (None, 1));
        known.add(undecodable("shown", 6), none(), (None, 2));
        known.settle(|key, at, shown| {
            assert_eq!(*key.name == *"shown", at == Some(&version(6)));
            shown.iter().any(|(_, shown)| *shown >= 2)
        });
        assert!(known.get(&key("before")).is_none() && known.get(&key("shown")).is_some());
    }

    #[test]
    fn a_store_knows_undecodable_objects_of_its_lists_and_their_parents() {
        let store = Store::new(undecodable("a", 1).ty().clone(), BTreeSet::from(["by".to_owned()]));
        let scope = store.add_scope(None);
        let reader = store.reader();
        let child = |version: &str| {
            let child = json!({"metadata": {"name": "a", "namespace": "ns", "uid": "u",
                "resourceVersion": version, "labels": {"by": "parent"}}});
            Object::from_value(reader.ty(), &child, &KeptManagers::default()).unwrap()
        };
        store.observe(scope, child("1"));
        assert!(store.mark_undecodable(undecodable("a", 2)));
        assert_eq!(reader.parents_of(&undecodable("a", 2)), BTreeSet::from([Uid::new("parent")]));
        let start = store.begin_list(scope);
        assert!(!store.mark_undecodable(undecodable("a", 2)), "the list shows it again");
        store.replace(scope, start, Vec::new(), &version(2));
        assert!(reader.is_empty() && reader.undecodable_at(&key("a")).is_some());
        assert_eq!(
            reader.undecodable_children_of(&Uid::new("parent")).len(),
            1,
            "it was cached once"
        );
        assert!(reader.undecodable_children_of(&Uid::new("other")).is_empty());
        let start = store.begin_list(scope);
        store.replace(scope, start, Vec::new(), &version(3));
        assert!(reader.undecodable().is_empty(), "it is gone");
        store.observe(scope, child("1"));
        store.mark_undecodable(undecodable("a", 1));
        assert!(store.overlay(child("1")).is_none() && reader.undecodable().is_empty());
        store.mark_undecodable(undecodable("a", 4));
        store.observe_deletion(scope, &child("4"));
        assert!(reader.undecodable().is_empty());
    }

    #[test]
    fn a_label_that_names_parents_later_counts_for_known_objects_too() {
        let ty = undecodable("a", 1).ty().clone();
        let (store, metadata) = (
            Store::new(ty.clone(), BTreeSet::new()),
            json!({"name": "a", "namespace": "ns", "resourceVersion": "1", "generation": "odd",
                "labels": {"by": "parent"}}),
        );
        let text = json!({"metadata": metadata}).to_string();
        store.mark_undecodable(Undecodable::read(&ty, &text, "odd".to_owned()));
        let children = || store.reader().undecodable_children_of(&Uid::new("parent")).len();
        assert_eq!(children(), 0);
        store.add_parent_label("by");
        assert_eq!(children(), 1);
    }

    #[test]
    fn the_number_of_known_names_is_limited() {
        let mut known = UndecodableObjects::default();
        let news = (0..MAX + 50)
            .filter(|it| known.add(undecodable(&format!("a{it}"), 1), none(), (None, 1)))
            .count();
        assert_eq!((news, known.iter().count()), (MAX, MAX));
    }

    #[test]
    fn objects_beyond_the_shown_ones_are_counted_and_protected_too() {
        let store = Store::new(undecodable("a", 1).ty().clone(), BTreeSet::new());
        let (scope, reader) = (store.add_scope(None), store.reader());
        let child = json!({"metadata": {"name": "z", "namespace": "ns", "uid": "u",
            "resourceVersion": "1", "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap",
            "name": "p", "uid": "parent", "controller": true}]}});
        let child = Object::from_value(reader.ty(), &child, &KeptManagers::default()).unwrap();
        store.observe(scope, child);
        for number in 0..SHOWN {
            assert!(store.mark_undecodable(undecodable(&format!("a{number}"), 2)));
        }
        assert!(store.mark_undecodable(undecodable("z", 2)));
        assert_eq!(
            (reader.first_undecodable().len(), reader.undecodable().len()),
            (SHOWN, SHOWN + 1)
        );
        assert_eq!(reader.count_undecodable(|namespace| namespace == Some("ns")), SHOWN + 1);
        assert_eq!(reader.count_undecodable(|namespace| namespace.is_none()), 0);
        assert!(reader.undecodable_at(&key("z")).is_some());
        assert_eq!(reader.undecodable_children_of(&Uid::new("parent")).len(), 1);
    }
}
