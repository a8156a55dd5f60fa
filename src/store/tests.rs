//! How a store processes versions that increase, and versions that go back.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::object::{K8sType, KeptManagers, Object, ObjectKey, ResourceVersion, Uid};

fn ty() -> K8sType {
    K8sType::namespaced("v1", "ConfigMap", "configmaps")
}

fn object(name: &str, version: u64) -> Object {
    let version = version.to_string();
    let value = json!({"metadata": {
        "name": name, "namespace": "ns", "uid": name, "resourceVersion": version,
    }});
    Object::from_value(&ty(), &value, &KeptManagers::default()).unwrap()
}

/// A store that has listed `a` and `b` at version 100.
fn listed() -> (Store, ScopeId) {
    let store = Store::new(ty(), BTreeSet::new());
    let scope = store.add_scope(None);
    list(&store, scope, vec![object("a", 90), object("b", 95)], 100);
    (store, scope)
}

fn list(store: &Store, scope: ScopeId, items: Vec<Object>, version: u64) -> Settled {
    let start = store.begin_list(scope);
    store.replace(scope, start, items, &ResourceVersion::Number(version)).1
}

/// An older list is of a restored backup.
#[test]
fn every_event_of_a_watch_raises_the_high_water_mark() {
    type Show = fn(&Store, ScopeId);
    let table: [(&str, Show); 4] = [
        ("a change", |store, scope| drop(store.observe(scope, object("a", 110)))),
        ("a deletion", |store, scope| drop(store.observe_deletion(scope, &object("a", 110)))),
        ("a bookmark", |store, scope| store.bookmark(scope, &ResourceVersion::Number(110))),
        ("the echo of a write of ours", |store, scope| {
            store.overlay(object("a", 110));
            let (key, version) = (ObjectKey::namespaced("ns", "a"), ResourceVersion::Number(110));
            assert!(store.observe_echo(scope, &key, "a", &version));
        }),
    ];
    for (what, show) in table {
        let (store, scope) = listed();
        show(&store, scope);
        assert_eq!(list(&store, scope, Vec::new(), 109), Settled::VersionRegressed, "{what}");
    }
    let (store, scope) = listed();
    assert_eq!(list(&store, scope, Vec::new(), 100), Settled::Continued);
}

#[test]
fn versions_that_went_back_continue_from_there() {
    let (store, scope) = listed();
    assert_eq!(list(&store, scope, vec![object("a", 40)], 50), Settled::VersionRegressed);
    assert_eq!(list(&store, scope, vec![object("a", 40)], 60), Settled::Continued, "once");
    assert!(store.observe(scope, object("a", 70)).is_some());
}

#[test]
fn a_hold_on_deletions_is_not_ended_with_an_earlier_one() {
    let (store, scope) = listed();
    list(&store, scope, Vec::new(), 50);
    let earlier = store.hold(scope).unwrap();
    list(&store, scope, Vec::new(), 40);
    store.release_deletions(earlier);
    assert!(!store.reader().may_delete(None));
    store.release_deletions(store.hold(scope).unwrap());
    assert!(store.reader().may_delete(None));
}

/// Of two namespaces one may be unreachable for long.
#[test]
fn only_the_scope_that_went_back_holds_deletions() {
    let store = Store::new(ty(), BTreeSet::new());
    let [a, b] = ["a", "b"].map(|namespace| store.add_scope(Some(namespace.to_owned())));
    let list = |scope, number| {
        let start = store.begin_list(scope);
        store.replace(scope, start, Vec::new(), &ResourceVersion::Number(number)).1
    };
    for scope in [a, b] {
        list(scope, 9);
    }
    list(a, 5);
    let may_delete = || ["a", "b"].map(|namespace| store.reader().may_delete(Some(namespace)));
    assert_eq!(may_delete(), [false, true]);
    assert!(store.hold(b).is_none() && store.holds_deletions());
    assert!(!store.reader().may_delete(None));
    store.release_deletions(store.hold(a).unwrap());
    assert_eq!(may_delete(), [true, true]);
}

/// Its label was removed and added again before it was deleted, and the watch lags behind.
#[test]
fn a_deleted_object_does_not_come_back_by_an_old_event() {
    let (store, scope) = listed();
    store.observe(scope, object("a", 105));
    store.overlay(object("a", 112));
    let uid = object("a", 112).uid().clone();
    assert!(store.mark_deleted(object("a", 112).key(), &uid).is_some());
    assert!(store.observe_deletion(scope, &object("a", 108)).is_none());
    assert!(store.observe(scope, object("a", 112)).is_none());
    store.observe_deletion(scope, &object("a", 113));
    assert!(store.reader().get(object("a", 113).key()).is_none());
}

/// Such versions cannot be ordered.
#[test]
fn an_object_that_left_can_come_back_with_opaque_versions() {
    let odd = |version: &str| {
        let metadata = json!({
            "name": "a", "namespace": "ns", "uid": "a", "resourceVersion": version,
        });
        let value = json!({"metadata": metadata});
        Object::from_value(&ty(), &value, &KeptManagers::default()).unwrap()
    };
    let (store, scope) = listed();
    list(&store, scope, Vec::new(), 110);
    store.observe(scope, odd("x1"));
    store.observe_deletion(scope, &odd("x2"));
    assert!(store.observe(scope, odd("x2")).is_none(), "the version of its deletion");
    assert!(store.observe(scope, odd("x3")).is_some());
    let start = store.begin_list(scope);
    store.overlay(odd("x4"));
    store.replace(scope, start, Vec::new(), &ResourceVersion::new("l1"));
    assert!(store.observe(scope, odd("x4")).is_some(), "the list was in progress");
}

/// A restored backup contains it, with lower versions than that of its deletion.
#[test]
fn an_object_deleted_before_versions_went_back_is_accepted_again() {
    let (store, scope) = listed();
    store.observe_deletion(scope, &object("a", 110));
    list(&store, scope, vec![object("a", 40)], 50);
    assert!(store.observe(scope, object("a", 60)).is_some(), "its deletion was seen");

    let (store, scope) = listed();
    let start = store.begin_list(scope);
    store.mark_deleted(object("a", 90).key(), &Uid::new("a"));
    store.replace(scope, start, vec![object("a", 40)], &ResourceVersion::Number(50));
    assert!(store.observe(scope, object("a", 60)).is_some(), "its deletion was answered");
}

/// Until then all events of the uid are ignored, even that it left the selector and is back.
#[test]
fn a_tombstone_ends_with_the_deleted_event() {
    let (store, scope) = listed();
    store.mark_deleted(object("a", 90).key(), &Uid::new("a"));
    assert!(store.observe(scope, object("a", 109)).is_none());
    store.observe_deletion(scope, &object("a", 110));
    assert!(store.observe(scope, object("a", 111)).is_some());
}
