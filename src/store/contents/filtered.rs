//! A store that holds only the objects of its watch that somebody asks for.
//!
//! What is asked for later was passed over before, so it is fetched: by a list that is requested while the
//! watch is open. An event that arrives before the result of that list, and is newer, counts.

use std::{collections::HashMap, sync::Arc};

use super::{
    super::filter::{Filter, Filtered},
    Change, Contents,
};
use crate::{
    object::{Object, ObjectKey, ResourceVersion},
    operator::Ask,
};

impl Contents {
    pub(in crate::store) fn filter_by(&mut self, filter: Filter) {
        self.filtered = Some(Filtered::new(filter));
    }

    pub(in crate::store) fn ask(&mut self, ask: &Ask) {
        if let Some(filtered) = &mut self.filtered {
            Arc::make_mut(&mut filtered.filter).add(ask);
        }
    }

    /// Nobody asks any more: what nobody else asks for is dropped.
    pub(in crate::store) fn unask(&mut self, ask: &Ask) {
        let Some(filtered) = &mut self.filtered else { return };
        Arc::make_mut(&mut filtered.filter).remove(ask);
        let filter = filtered.filter.clone();
        let unwanted: Vec<ObjectKey> = match ask {
            Ask::Named(key) => {
                let cached = self.get(key).filter(|object| !filter.includes(object));
                cached.map(|object| object.key().clone()).into_iter().collect()
            }
            Ask::Selected(_) => {
                let unwanted = self.objects().filter(|object| !filter.includes(object));
                unwanted.map(|object| object.key().clone()).collect()
            }
        };
        for key in unwanted {
            self.remove(&key);
        }
    }

    pub(in crate::store) fn begin_fetch(&mut self) {
        if let Some(filtered) = &mut self.filtered {
            filtered.passed_over = Some(HashMap::new());
        }
    }

    /// Processes the result of a fetch; nothing after a failure.
    pub(in crate::store) fn end_fetch(&mut self, objects: Vec<Object>) -> Vec<Change> {
        let passed_over = self.filtered.as_mut().and_then(|it| it.passed_over.take());
        let passed_over = passed_over.unwrap_or_default();
        let is_current = |object: &Object| {
            let newer = passed_over.get(object.key());
            newer.is_none_or(|newer| !object.resource_version().is_older_than(newer))
        };
        let wanted = |object: &Object| is_current(object) && !self.is_unwanted(object);
        let objects: Vec<Object> = objects.into_iter().filter(|object| wanted(object)).collect();
        // A watch that is filtered has no selector.
        let fetched = objects.into_iter().filter_map(|object| {
            let version = object.resource_version().clone();
            self.accept(object, None, &version)
        });
        fetched.collect()
    }

    pub(super) fn is_unwanted(&self, object: &Object) -> bool {
        self.filtered.as_ref().is_some_and(|filtered| !filtered.filter.includes(object))
    }

    /// Passes over an event whose name alone says that nobody asks for the object.
    pub(super) fn is_excluded(&mut self, key: &ObjectKey, version: &ResourceVersion) -> bool {
        let is_excluded = self.filtered.as_ref().is_some_and(|it| it.filter.excludes(key));
        if is_excluded {
            self.pass_over(key, version);
        }
        is_excluded
    }

    /// Processes an event of an object that is not asked for in this version.
    pub(super) fn observe_unwanted(&mut self, object: &Object) -> Option<Change> {
        let (key, version) = (object.key(), object.resource_version());
        self.pass_over(key, version);
        let cached = self.get(key)?;
        let is_stale = version.is_older_than(cached.resource_version());
        if is_stale { None } else { self.remove(key) }
    }

    fn pass_over(&mut self, key: &ObjectKey, version: &ResourceVersion) {
        if let Some(passed_over) = self.filtered.as_mut().and_then(|it| it.passed_over.as_mut()) {
            passed_over.insert(key.clone(), version.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::{
        object::{K8sType, KeptManagers, LabelSelector},
        operator::Selected,
        store::{ScopeId, Store},
    };

    fn ty() -> K8sType {
        K8sType::namespaced("v1", "ConfigMap", "configmaps")
    }

    fn object(name: &str, tier: &str, version: u64) -> Object {
        let metadata = json!({
            "name": name, "namespace": "ns", "uid": name, "resourceVersion": version.to_string(),
            "labels": {"tier": tier},
        });
        Object::from_value(&ty(), &json!({"metadata": metadata}), &KeptManagers::default()).unwrap()
    }

    fn named(name: &str) -> Ask {
        Ask::Named(ObjectKey::namespaced("ns", name))
    }

    fn gold() -> Ask {
        let selector = Some(LabelSelector::parse("tier=gold").unwrap());
        Ask::Selected(Arc::new(Selected { namespace: None, selector }))
    }

    fn store(asks: impl IntoIterator<Item = Ask>) -> (Store, ScopeId) {
        let store = Store::new(ty(), BTreeSet::new());
        store.filter_by(asks.into_iter().collect());
        let scope = store.add_scope(None);
        (store, scope)
    }

    fn names(store: &Store) -> String {
        let all = store.reader().list();
        all.iter()
            .map(|it| format!("{}{}", it.name(), it.resource_version()))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn only_what_is_asked_for_is_held() {
        let (store, scope) = store([named("a"), gold()]);
        let start = store.begin_list(scope);
        let items = vec![object("a", "tin", 1), object("b", "gold", 1), object("c", "tin", 1)];
        store.replace(scope, start, items, &ResourceVersion::Number(1));
        assert_eq!(names(&store), "a1 b1");
        assert!(store.observe(scope, object("c", "gold", 2)).is_some(), "it is selected now");
        assert!(store.observe(scope, object("d", "tin", 3)).is_none());
        let gone = store.observe(scope, object("b", "tin", 4)).unwrap();
        assert!(gone.after.is_none(), "it left the selection");
        assert_eq!(names(&store), "a1 c2");
        store.unask(&gold());
        assert_eq!(names(&store), "a1");
        store.unask(&named("a"));
        assert_eq!((names(&store), store.reader().bytes()), (String::new(), 0));
    }

    #[test]
    fn an_event_that_is_newer_than_a_fetched_object_counts() {
        for (events, expected) in [
            (vec![], "b5"),
            (vec![object("b", "gold", 6)], "b6"),
            // It was changed, and is not selected any more.
            (vec![object("b", "tin", 6)], ""),
            (vec![object("b", "tin", 5)], "b5"),
        ] {
            let (store, scope) = store([named("a"), gold()]);
            store.begin_fetch();
            for event in events {
                store.observe(scope, event);
            }
            store.end_fetch(vec![object("b", "gold", 5)]);
            assert_eq!(names(&store), expected);
        }
        let (store, scope) = store([named("a")]);
        store.ask(&named("b"));
        store.begin_fetch();
        store.observe_deletion(scope, &object("b", "", 6));
        store.end_fetch(vec![object("b", "", 5)]);
        assert_eq!(names(&store), "", "it was deleted meanwhile");
    }

    #[test]
    fn a_list_that_began_earlier_removes_nothing_that_was_asked_for_since() {
        let (store, scope) = store([named("a")]);
        let start = store.begin_list(scope);
        assert!(start.listed().includes(&object("a", "", 1)));
        assert!(!start.listed().includes(&object("b", "", 1)));
        store.ask(&named("b"));
        store.begin_fetch();
        store.end_fetch(vec![object("b", "", 5)]);
        store.replace(scope, start, vec![object("a", "", 1)], &ResourceVersion::Number(9));
        assert_eq!(names(&store), "a1 b5");
        let start = store.begin_list(scope);
        store.replace(scope, start, Vec::new(), &ResourceVersion::Number(10));
        assert_eq!(names(&store), "");
    }

    #[test]
    fn an_event_of_another_name_is_passed_over_without_its_labels() {
        let (store, scope) = store([named("a")]);
        let (other, version) = (ObjectKey::namespaced("ns", "b"), ResourceVersion::Number(3));
        assert!(store.observe_echo(scope, &other, "b", &version));
        let asked = ObjectKey::namespaced("ns", "a");
        assert!(!store.observe_echo(scope, &asked, "a", &version));
        store.ask(&gold());
        assert!(!store.observe_echo(scope, &other, "b", &version), "its labels decide");
    }
}
