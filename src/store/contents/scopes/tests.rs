//! Fallbacks, successors, and what remains of scopes that ended.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::{
    object::{K8sType, KeptManagers, Object, ResourceVersion, Uid, Undecodable},
    store::Store,
};

fn ty() -> K8sType {
    K8sType::namespaced("v1", "ConfigMap", "configmaps")
}

/// A store with a scope of all namespaces, and an inactive one of `a`.
fn store() -> (Store, ScopeId, ScopeId) {
    let store = Store::new(ty(), BTreeSet::new());
    let [all, a] = [None, Some("a".to_owned())].map(|namespace| store.add_scope(namespace));
    store.rest(a);
    (store, all, a)
}

fn object(namespace: &str, version: u64) -> Object {
    let metadata = json!({
        "name": "x", "namespace": namespace, "uid": version.to_string(),
        "resourceVersion": version.to_string(),
    });
    let (ty, managers) = (ty(), KeptManagers::default());
    Object::from_value(&ty, &json!({"metadata": metadata}), &managers).unwrap()
}

fn list(store: &Store, scope: ScopeId, version: u64) -> Settled {
    let start = store.begin_list(scope);
    store.replace(scope, start, Vec::new(), &ResourceVersion::Number(version)).1
}

/// Whether something may be deleted in `a`, in `b`, and anywhere.
fn may_delete(store: &Store) -> [bool; 3] {
    [Some("a"), Some("b"), None].map(|namespace| store.reader().may_delete(namespace))
}

#[test]
fn a_fallback_scope_covers_its_namespace_only() {
    let (store, all, a) = store();
    assert_eq!(may_delete(&store), [false; 3]);
    list(&store, all, 5);
    assert_eq!(may_delete(&store), [true; 3], "inactive scopes do not count");
    store.cut_off(all, true);
    store.use_fallback(a);
    assert_eq!(may_delete(&store), [false; 3], "it knows nothing yet");
    list(&store, a, 7);
    assert_eq!(may_delete(&store), [true, false, false]);
    assert_eq!(store.reader().version(), Some(ResourceVersion::Number(5)), "of all");
    store.cut_off(all, false);
    store.rest(a);
    assert_eq!(may_delete(&store), [true; 3]);
    list(&store, a, 8);
    store.cut_off(all, true);
    assert_eq!(may_delete(&store), [false; 3], "a late list does not count");
}

#[test]
fn a_fallback_scope_detects_a_regression_and_passes_it_on() {
    let (store, all, a) = store();
    list(&store, all, 50);
    store.cut_off(all, true);
    store.use_fallback(a);
    assert_eq!(list(&store, a, 40), Settled::VersionRegressed);
    assert_eq!(may_delete(&store), [false; 3]);
    assert!(store.overlay(object("a", 45)).is_some(), "not older than the new history");
    assert_eq!(
        list(&store, all, 60),
        Settled::VersionRegressed,
        "the other objects are of the lost history"
    );
    store.cut_off(all, false);
    store.rest(a);
    assert_eq!(may_delete(&store), [false; 3], "both hold deletions");
    store.release_deletions(store.hold(all).unwrap());
    assert_eq!(may_delete(&store), [false, true, false]);
    store.release_deletions(store.hold(a).unwrap());
    store.has_gone_back(all);
    list(&store, all, 30);
    assert!(store.overlay(object("a", 35)).is_some(), "inactive scopes do not count");
    store.release_deletions(store.hold(all).unwrap());
    assert_eq!(may_delete(&store), [true; 3]);
}

#[test]
fn a_scope_ends_with_the_first_list_of_its_successor_and_shows_nothing_more() {
    let store = Store::new(ty(), BTreeSet::new());
    let earlier = store.add_scope(None);
    list(&store, earlier, 5);
    assert!(store.observe(earlier, object("a", 6)).is_some());
    let next = store.add_successor(None, None, vec![earlier]);
    assert_eq!(may_delete(&store), [true; 3], "the earlier one is complete");
    let start = store.begin_list(next);
    let items = vec![object("a", 6), object("b", 4)];
    store.replace(next, start, items, &ResourceVersion::Number(7));
    assert_eq!(may_delete(&store), [true; 3]);
    // It left the earlier selector only.
    assert!(store.observe_deletion(earlier, &object("a", 6)).is_none());
    assert!(store.observe(earlier, object("c", 8)).is_none());
    assert_eq!(list(&store, earlier, 9), Settled::Continued);
    store.cut_off(earlier, true);
    assert_eq!((store.reader().len(), may_delete(&store)), (2, [true; 3]));
}

#[test]
fn a_list_replaces_what_another_scope_shows_only_the_first_time() {
    let store = Store::new(ty(), BTreeSet::new());
    let earlier = store.add_scope(None);
    let early = store.add_successor(None, None, vec![earlier]);
    assert!(!store.begin_list(early).replaces(), "nobody has listed them");
    list(&store, earlier, 5);
    assert!(!store.begin_list(earlier).replaces());
    let next = store.add_successor(None, None, vec![earlier]);
    assert!(store.begin_list(next).replaces());
    list(&store, next, 7);
    assert!(!store.begin_list(next).replaces());
}

#[test]
fn objects_that_no_scope_covers_any_more_are_dropped() {
    let store = Store::new(ty(), BTreeSet::new());
    let [a, b] = ["a", "b"].map(|namespace| store.add_scope(Some(namespace.to_owned())));
    for (scope, namespace) in [(a, "a"), (b, "b")] {
        list(&store, scope, 5);
        assert!(store.observe(scope, object(namespace, 6)).is_some());
    }
    store.end_scope(b);
    assert_eq!(store.reader().len(), 1);
    assert_eq!(may_delete(&store), [true, false, true], "only the first one counts");
    store.end_scope(a);
    assert_eq!((store.reader().len(), may_delete(&store)), (0, [false; 3]));
}

#[test]
fn nothing_is_kept_of_scopes_that_ended() {
    let store = Store::new(ty(), BTreeSet::new());
    let kept = store.add_scope(Some("kept".to_owned()));
    list(&store, kept, 5);
    for number in 0..100 {
        let namespace = format!("ns-{number}");
        let scope = store.add_scope(Some(namespace.clone()));
        list(&store, scope, 5);
        store.observe(scope, object(&namespace, 6));
        let gone = object(&namespace, 6);
        store.mark_deleted(gone.key(), gone.uid());
        assert!(store.mark_undecodable(undecodable(&namespace)));
        assert_eq!(store.reader().undecodable_children_of(&Uid::new("parent")).len(), 1);
        store.end_scope(scope);
        assert!(store.overlay(object(&namespace, 9)).is_none(), "no watch would remove it");
        assert!(store.observe(scope, object(&namespace, 9)).is_none());
    }
    let reader = store.reader();
    assert_eq!(reader.undecodable_children_of(&Uid::new("parent")).len(), 0);
    let contents = reader.read();
    assert_eq!((contents.len(), contents.scopes.iter().count()), (0, 1));
    assert!(contents.tombstones.is_empty() && contents.census.of("ns-7").is_none());
    assert_eq!(contents.census.of("kept"), Some(0));
}

#[test]
fn a_namespace_is_counted_until_its_last_scope_ends() {
    let store = Store::new(ty(), BTreeSet::new());
    let earlier = store.add_scope(Some("a".to_owned()));
    list(&store, earlier, 5);
    store.observe(earlier, object("a", 6));
    let next = store.add_successor(Some("a".to_owned()), None, vec![earlier]);
    let start = store.begin_list(next);
    store.replace(next, start, vec![object("a", 6)], &ResourceVersion::Number(7));
    assert_eq!(store.reader().read().census.of("a"), Some(1));
    store.end_scope(next);
    assert_eq!((store.reader().read().census.of("a"), store.reader().len()), (None, 0));
}

fn undecodable(namespace: &str) -> Undecodable {
    let metadata = json!({"name": "u", "namespace": namespace, "resourceVersion": "7",
        "ownerReferences": [{"uid": "parent", "controller": true}]});
    let text = json!({"metadata": metadata}).to_string();
    Undecodable::read(&ty(), &text, "odd".to_owned())
}
