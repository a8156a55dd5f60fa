//! How a store processes events, lists and replies in any order.

use serde_json::json;

use super::*;
use crate::object::KeptManagers;

const LABEL: &str = "operetta.dev/parent-uid";

fn ty() -> K8sType {
    K8sType::namespaced("v1", "ConfigMap", "configmaps")
}

fn object(name: &str, uid: &str, version: u64) -> Object {
    let value = json!({"metadata": {
        "name": name, "namespace": "ns", "uid": uid, "resourceVersion": version.to_string(),
        "labels": {LABEL: "parent"},
    }});
    Object::from_value(&ty(), &value, &KeptManagers::default()).unwrap()
}

fn version(number: u64) -> ResourceVersion {
    ResourceVersion::Number(number)
}

fn listed(items: Vec<Object>, at: u64) -> (Store, ScopeId) {
    let store = Store::new(ty(), BTreeSet::from([LABEL.to_owned()]));
    let scope = store.add_scope(None);
    let start = store.begin_list(scope);
    store.replace(scope, start, items, &version(at));
    (store, scope)
}

fn names(store: &Store) -> Vec<String> {
    store.reader().list().iter().map(|object| format!("{object:?}")).collect()
}

#[test]
fn an_event_older_than_a_reply_is_ignored_a_deletion_too() {
    let (store, scope) = listed(vec![object("a", "u", 1)], 1);
    store.overlay(object("a", "u", 5));
    assert!(store.observe(scope, object("a", "u", 4)).is_none());
    assert!(store.observe_deletion(scope, &object("a", "u", 4)).is_none());
    assert!(store.observe(scope, object("a", "u", 5)).is_none());
    let key = ObjectKey::namespaced("ns", "a");
    for (uid, at, is_echo) in [("u", 4, true), ("u", 5, true), ("u", 6, false), ("v", 5, false)] {
        assert_eq!(store.observe_echo(scope, &key, uid, &version(at)), is_echo, "{uid} {at}");
    }
    assert_eq!(names(&store), ["ConfigMap.v1 ns/a @5"]);
    assert!(store.observe_deletion(scope, &object("a", "u", 6)).is_some());
    assert!(store.reader().is_empty() && store.reader().bytes() == 0);
}

#[test]
fn a_list_deletes_what_it_lacks_unless_a_reply_is_newer() {
    let (store, scope) = listed(vec![object("a", "u", 1), object("b", "v", 2)], 2);
    let start = store.begin_list(scope);
    store.overlay(object("new", "w", 9));
    let (changes, _) = store.replace(scope, start, vec![object("a", "u", 1)], &version(5));
    assert_eq!(changes.len(), 1);
    assert!(changes[0].after.is_none() && changes[0].object().name() == "b");
    assert_eq!(names(&store), ["ConfigMap.v1 ns/a @1", "ConfigMap.v1 ns/new @9"]);
}

#[test]
fn a_deleted_object_does_not_come_back_by_late_events() {
    let (store, scope) = listed(vec![object("a", "u", 1)], 1);
    let start = store.begin_list(scope);
    assert!(store.mark_deleted(object("a", "u", 1).key(), &Uid::new("u")).is_some());
    assert!(store.observe(scope, object("a", "u", 2)).is_none());
    store.replace(scope, start, vec![object("a", "u", 2)], &version(2));
    assert!(store.reader().is_empty(), "the list was requested before the deletion");
    assert!(store.observe_deletion(scope, &object("a", "u", 3)).is_none());
    assert!(store.observe(scope, object("a", "other", 4)).is_some());
}

#[test]
fn a_list_requested_after_the_deletion_is_accepted() {
    let (store, scope) = listed(vec![object("a", "u", 1)], 1);
    store.mark_deleted(object("a", "u", 1).key(), &Uid::new("u"));
    let start = store.begin_list(scope);
    store.replace(scope, start, vec![object("a", "u", 1)], &version(2));
    assert_eq!(store.reader().len(), 1);
}

#[test]
fn a_reply_to_a_delete_after_the_deleted_event_leaves_no_tombstone() {
    let (store, scope) = listed(vec![object("a", "u", 1)], 1);
    store.observe_deletion(scope, &object("a", "u", 2));
    assert!(store.mark_deleted(object("a", "u", 1).key(), &Uid::new("u")).is_none());
    assert!(store.observe(scope, object("a", "u", 3)).is_some());
}

#[test]
fn a_reply_that_comes_after_the_deleted_event_does_not_bring_the_object_back() {
    let (store, scope) = listed(vec![object("a", "u", 1)], 1);
    store.observe_deletion(scope, &object("a", "u", 3));
    assert!(store.overlay(object("a", "u", 2)).is_none());
    assert!(store.reader().is_empty());
    assert!(store.overlay(object("a", "u", 4)).is_some(), "it had only left the selector");
}

#[test]
fn a_namesake_replaces_and_its_predecessor_cannot_delete_it() {
    let (store, scope) = listed(vec![object("a", "old", 1)], 1);
    let change = store.observe(scope, object("a", "new", 5)).unwrap();
    assert_eq!(change.before.unwrap().uid(), &Uid::new("old"));
    assert!(store.observe_deletion(scope, &object("a", "old", 4)).is_none());
    assert_eq!(store.reader().len(), 1);
}

#[test]
fn a_list_below_the_high_water_mark_replaces_all_and_holds_deletions() {
    let (store, scope) = listed(vec![object("a", "u", 90), object("b", "v", 95)], 100);
    assert!(store.reader().may_delete(None));
    let start = store.begin_list(scope);
    let (changes, settled) = store.replace(scope, start, vec![object("a", "u", 40)], &version(50));
    assert_eq!((changes.len(), settled), (2, Settled::VersionRegressed));
    assert_eq!(names(&store), ["ConfigMap.v1 ns/a @40"]);
    assert!(store.reader().is_synced() && !store.reader().may_delete(None));
    store.release_deletions(store.hold(scope).unwrap());
    assert!(store.reader().may_delete(None));
}

#[test]
fn children_are_found_by_parent_and_nothing_is_synced_before_a_list() {
    let store = Store::new(ty(), BTreeSet::from([LABEL.to_owned()]));
    assert!(!store.reader().is_synced());
    let scope = store.add_scope(None);
    store.observe(scope, object("a", "u", 1));
    assert!(!store.reader().is_synced());
    assert_eq!(store.reader().of_parent(&Uid::new("parent")).len(), 1);
    assert!(store.reader().of_parent(&Uid::new("other")).is_empty());
}

#[test]
fn a_listed_namespace_allows_deletions_while_another_is_not_listed() {
    let store = Store::new(ty(), BTreeSet::new());
    let [a, b] = ["ns", "other"].map(|name| store.add_scope(Some(name.to_owned())));
    let start = store.begin_list(a);
    store.replace(a, start, vec![object("a", "u", 1)], &version(1));
    let reader = store.reader();
    assert!(reader.is_scope_synced(a) && !reader.is_scope_synced(b) && !reader.is_synced());
    assert!(reader.may_delete(Some("ns")));
    for elsewhere in [Some("other"), Some("unwatched"), None] {
        assert!(!reader.may_delete(elsewhere), "{elsewhere:?}");
    }
    // The list of one namespace does not affect the other.
    let start = store.begin_list(b);
    store.replace(b, start, Vec::new(), &version(2));
    assert_eq!(names(&store), ["ConfigMap.v1 ns/a @1"]);
    assert!(reader.may_delete(None));
}

#[test]
fn an_interrupted_watch_allows_no_deletions() {
    let store = Store::new(ty(), BTreeSet::new());
    let [a, b] = ["ns", "other"].map(|name| store.add_scope(Some(name.to_owned())));
    for scope in [a, b] {
        let start = store.begin_list(scope);
        store.replace(scope, start, Vec::new(), &version(1));
    }
    let may_delete = || [Some("ns"), Some("other"), None].map(|it| store.reader().may_delete(it));
    assert_eq!(may_delete(), [true, true, true]);
    store.cut_off(a, true);
    assert_eq!(may_delete(), [false, true, false]);
    assert!(store.reader().is_synced(), "it was");
    store.cut_off(a, false);
    assert_eq!(may_delete(), [true, true, true]);
}
