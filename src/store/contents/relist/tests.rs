//! Lists that contradict what is known.

use serde_json::json;

use super::{super::super::Store, *};
use crate::object::{K8sType, KeptManagers, Uid, Undecodable};

fn ty() -> K8sType {
    K8sType::namespaced("v1", "ConfigMap", "configmaps")
}

fn object(name: &str, uid: &str, version: u64) -> Object {
    let metadata = json!({
        "name": name, "namespace": "ns", "uid": uid, "resourceVersion": version.to_string(),
    });
    Object::from_value(&ty(), &json!({"metadata": metadata}), &KeptManagers::default()).unwrap()
}

fn store() -> (Store, ScopeId) {
    let store = Store::new(ty(), BTreeSet::new());
    let scope = store.add_scope(None);
    (store, scope)
}

/// Processes a list that is requested now.
fn list(store: &Store, scope: ScopeId, items: Vec<Object>, version: u64) -> Settled {
    let start = store.begin_list(scope);
    store.replace(scope, start, items, &ResourceVersion::Number(version)).1
}

fn shown(store: &Store) -> Vec<String> {
    let objects = store.reader().list();
    objects
        .iter()
        .map(|it| format!("{} {} @{}", it.name(), it.uid(), it.resource_version()))
        .collect()
}

#[test]
fn a_backup_with_continued_versions_is_detected_by_an_older_object() {
    let (store, scope) = store();
    list(&store, scope, vec![object("a", "u", 40), object("b", "v", 41)], 50);
    store.observe(scope, object("a", "u", 90));
    let restored = vec![object("a", "u", 40), object("b", "v", 41)];
    assert_eq!(list(&store, scope, restored, 1_000_000), Settled::VersionRegressed);
    assert_eq!(shown(&store), ["a u @40", "b v @41"], "the server has nothing newer");
    assert!(!store.reader().may_delete(None));
}

#[test]
fn an_object_deleted_since_a_backup_with_continued_versions_is_back() {
    let (store, scope) = store();
    list(&store, scope, vec![object("a", "u", 40)], 50);
    store.observe_deletion(scope, &object("a", "u", 90));
    assert_eq!(
        list(&store, scope, vec![object("a", "u", 40)], 1_000_000),
        Settled::VersionRegressed
    );
    assert_eq!(shown(&store), ["a u @40"]);
}

#[test]
fn an_object_recreated_since_a_backup_with_continued_versions_is_the_old_one_again() {
    let (store, scope) = store();
    list(&store, scope, vec![object("a", "old", 40)], 50);
    store.observe(scope, object("a", "new", 90));
    assert_eq!(
        list(&store, scope, vec![object("a", "old", 40)], 1_000_000),
        Settled::VersionRegressed
    );
    assert_eq!(shown(&store), ["a old @40"]);
}

#[test]
fn a_list_that_is_older_than_an_earlier_reply_is_of_a_backup() {
    let (store, scope) = store();
    list(&store, scope, vec![object("a", "u", 4)], 10);
    store.overlay(object("a", "u", 21));
    store.overlay(object("b", "v", 20));
    assert_eq!(list(&store, scope, vec![object("a", "u", 4)], 14), Settled::VersionRegressed);
    assert_eq!(shown(&store), ["a u @4"], "no watch has shown the versions 20 and 21");
    let again = list(&store, scope, vec![object("a", "u", 4)], 15);
    assert_eq!(again, Settled::Continued, "the lost history is forgotten");
}

#[test]
fn replies_are_tracked_per_namespace_when_versions_regress() {
    let store = Store::new(ty(), BTreeSet::new());
    let [here, elsewhere] = ["ns", "other"].map(|name| store.add_scope(Some(name.to_owned())));
    list(&store, here, vec![object("a", "u", 300)], 400);
    list(&store, elsewhere, vec![], 980);
    store.overlay(object("a", "u", 990));
    assert_eq!(list(&store, elsewhere, vec![], 500), Settled::VersionRegressed);
    assert_eq!(list(&store, here, vec![object("a", "u", 300)], 501), Settled::VersionRegressed);
    assert_eq!(shown(&store), ["a u @300"], "the lost version would hide later ones");
}

#[test]
fn a_list_in_progress_while_an_object_changes_or_is_deleted_is_no_backup() {
    let (store, scope) = store();
    list(&store, scope, vec![object("a", "u", 40), object("b", "v", 41)], 50);
    let start = store.begin_list(scope);
    store.overlay(object("a", "u", 90));
    store.mark_deleted(object("b", "v", 41).key(), object("b", "v", 41).uid());
    let items = vec![object("a", "u", 40), object("b", "v", 41)];
    let (_, settled) = store.replace(scope, start, items, &ResourceVersion::Number(60));
    assert_eq!((settled, shown(&store)), (Settled::Continued, vec!["a u @90".to_owned()]));
}

#[test]
fn a_reply_that_comes_after_a_list_without_its_object_does_not_bring_it_back() {
    let (store, scope) = store();
    list(&store, scope, vec![object("a", "u", 1)], 1);
    list(&store, scope, vec![], 9);
    assert!(store.overlay(object("a", "u", 5)).is_none(), "no later event would remove it");
    assert!(store.overlay(object("a", "u", 10)).is_some(), "it had only left the selector");
}

#[test]
fn an_undecodable_object_of_a_list_comes_back_in_the_same_version() {
    let (store, scope) = store();
    list(&store, scope, vec![object("a", "u", 5)], 5);
    let start = store.begin_list(scope);
    store.mark_undecodable(Undecodable::unknown(&ty(), "odd".to_owned()));
    store.replace(scope, start, vec![], &ResourceVersion::Number(9));
    assert!(store.overlay(object("a", "u", 5)).is_some(), "a live read");
    let listed = list(&store, scope, vec![object("a", "u", 5)], 10);
    assert_eq!((listed, store.reader().len()), (Settled::Continued, 1));
}

#[test]
fn a_list_of_one_namespace_does_not_end_the_tombstones_of_another() {
    let store = Store::new(ty(), BTreeSet::new());
    let [here, elsewhere] = ["ns", "other"].map(|name| store.add_scope(Some(name.to_owned())));
    list(&store, here, vec![object("a", "u", 1)], 1);
    store.mark_deleted(object("a", "u", 1).key(), object("a", "u", 1).uid());
    list(&store, elsewhere, vec![], 9);
    assert!(store.observe(here, object("a", "u", 2)).is_none(), "its deletion is not reported yet");
    assert!(store.reader().is_empty());
}

#[test]
fn two_objects_with_one_version_before_and_after_a_backup_are_distinguished() {
    let (store, scope) = store();
    let of_history = |text: &str| {
        let metadata = json!({"name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "45"});
        let value = json!({"metadata": metadata, "data": {"of": text}});
        Object::from_value(&ty(), &value, &KeptManagers::default()).unwrap()
    };
    list(&store, scope, vec![of_history("lost")], 90);
    assert_eq!(list(&store, scope, vec![of_history("new")], 50), Settled::VersionRegressed);
    let cached = store.reader().list();
    assert_eq!(cached[0].pointer("/data/of"), Some(json!("new")));
}

#[test]
fn a_late_reply_about_an_object_that_no_list_has_shown_does_not_bring_it_back() {
    let (store, scope) = store();
    list(&store, scope, vec![], 1);
    // Created at 4 and deleted at 5 by another client: the list is the first to show that.
    list(&store, scope, vec![], 6);
    assert!(store.overlay(object("a", "u", 4)).is_none(), "no later event would remove it");
    assert!(store.overlay(object("a", "v", 7)).is_some(), "it was created since");
}

#[test]
fn an_event_older_than_a_reply_still_shows_that_its_object_can_be_decoded() {
    let (store, scope) = store();
    list(&store, scope, vec![object("a", "u", 1)], 1);
    let new = object("a", "u", 5);
    assert!(store.overlay(new.clone()).is_some());
    let metadata = json!({"name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "4"});
    let text = json!({"metadata": metadata}).to_string();
    store.mark_undecodable(Undecodable::read(&ty(), &text, "odd".to_owned()));
    assert!(store.observe_echo(scope, new.key(), "u", new.resource_version()));
    assert!(store.reader().undecodable().is_empty());
}

#[test]
fn a_complete_list_of_a_namespace_is_recognized_by_its_count() {
    let (store, _) = store();
    store.overlay(object("early", "e", 1));
    let [here, other] = ["ns", "other"].map(|namespace| store.add_scope(Some(namespace.into())));
    let counted = |namespace| store.reader().read().census.of(namespace);
    assert_eq!([counted("ns"), counted("other"), counted("third")], [Some(1), Some(0), None]);
    list(&store, here, vec![object("early", "e", 1), object("a", "u", 2)], 5);
    store.observe(here, object("a", "u", 6));
    assert_eq!(counted("ns"), Some(2), "a new version is no new object");
    let lacks_none = |scope, names: &[&str]| {
        let keys: Vec<ObjectKey> =
            names.iter().map(|name| ObjectKey::namespaced("ns", name)).collect();
        store.reader().read().has_no_more_than(&keys.iter().collect(), scope)
    };
    assert!(lacks_none(here, &["early", "a"]) && lacks_none(here, &["early", "a", "new"]));
    assert!(!lacks_none(here, &["a"]) && !lacks_none(here, &["a", "new"]));
    assert!(lacks_none(other, &[]));
    store.mark_deleted(&ObjectKey::namespaced("ns", "a"), &Uid::new("u"));
    assert_eq!(counted("ns"), Some(1));
    list(&store, here, vec![], 9);
    assert_eq!((counted("ns"), store.reader().len()), (Some(0), 0));
}

#[test]
fn a_list_shows_what_managers_that_are_kept_since_have_written() {
    let entry = json!({"manager": "late", "operation": "Apply", "fieldsV1": {"f:data": {}}});
    let metadata = json!({"name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "40",
        "managedFields": [entry]});
    let value = json!({"metadata": metadata});
    let managers = KeptManagers::default();
    let read = || Object::from_value(&ty(), &value, &managers).unwrap();
    let (store, scope) = store();
    list(&store, scope, vec![read()], 50);
    assert!(managers.keep(["late"]));
    let cached = || store.reader().list()[0].applied_fields("late");
    assert!(cached().is_none());
    let start = store.begin_list(scope);
    let (changes, _) = store.replace(scope, start, vec![read()], &ResourceVersion::Number(60));
    assert!(changes.is_empty(), "the object is the same");
    assert!(cached().is_some());
    assert_eq!(store.reader().bytes(), read().json().len());
}
