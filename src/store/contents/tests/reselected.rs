//! A watch that is replaced by one with another selector: what was learned under the earlier selector is no fact
//! under the later one.

use serde_json::json;

use super::super::super::{ScopeId, Settled, Store};
use crate::object::{K8sType, KeptManagers, Object, ObjectKey, ResourceVersion, Undecodable};

const GOLD: &str = "tier in (gold,silver)";

fn ty() -> K8sType {
    K8sType::namespaced("v1", "ConfigMap", "configmaps")
}

fn object(name: &str, version: u64) -> Object {
    let metadata = json!({
        "name": name, "namespace": "ns", "uid": name, "resourceVersion": version.to_string(),
    });
    Object::from_value(&ty(), &json!({"metadata": metadata}), &KeptManagers::default()).unwrap()
}

fn undecodable(name: &str, version: u64) -> Undecodable {
    let metadata = json!({
        "name": name, "namespace": "ns", "uid": name, "resourceVersion": version.to_string(),
    });
    Undecodable::read(&ty(), &json!({"metadata": metadata}).to_string(), "odd".to_owned())
}

fn at(version: u64) -> ResourceVersion {
    ResourceVersion::Number(version)
}

fn list(store: &Store, scope: ScopeId, items: &[(&str, u64)], version: u64) -> Settled {
    let start = store.begin_list(scope);
    let items = items.iter().map(|(name, version)| object(name, *version)).collect();
    store.replace(scope, start, items, &at(version)).1
}

fn shown(store: &Store) -> Vec<String> {
    let all = store.reader().list();
    all.iter().map(|it| format!("{}@{}", it.name(), it.resource_version())).collect()
}

/// A store with a selector that has listed `p` at 40 and `q` at 41.
fn selecting() -> (Store, ScopeId) {
    let store = Store::new(ty(), [].into());
    let scope = store.add_selecting_scope(None, Some(GOLD.to_owned()));
    list(&store, scope, &[("p", 40), ("q", 41)], 45);
    (store, scope)
}

fn widened(store: &Store, earlier: ScopeId) -> ScopeId {
    store.add_successor(None, None, vec![earlier])
}

#[test]
fn an_object_that_left_the_selector_is_shown_by_a_wider_watch() {
    let (store, gold) = selecting();
    assert!(store.observe_deletion(gold, &object("p", 50)).is_some());
    let wide = widened(&store, gold);
    assert_eq!(list(&store, wide, &[("p", 50), ("q", 41)], 55), Settled::Continued);
    assert_eq!(shown(&store), ["p@50", "q@41"]);
}

#[test]
fn an_object_that_left_the_selector_is_cached_by_a_live_read_once_the_wider_watch_is_listed() {
    let (store, gold) = selecting();
    let wide = widened(&store, gold);
    let start = store.begin_list(wide);
    store.observe_deletion(gold, &object("p", 50));
    assert!(store.overlay(object("p", 50)).is_none(), "no watch shows it");
    store.replace(wide, start, vec![object("p", 40), object("q", 41)], &at(49));
    assert!(store.overlay(object("p", 50)).is_some());
    assert_eq!(shown(&store), ["p@50", "q@41"]);
}

#[test]
fn an_object_that_a_list_with_the_selector_lacked_is_no_sign_of_a_backup_in_a_wider_list() {
    let (store, gold) = selecting();
    list(&store, gold, &[("q", 41)], 100);
    let wide = widened(&store, gold);
    assert_eq!(list(&store, wide, &[("p", 50), ("q", 41)], 105), Settled::Continued);
    assert_eq!(shown(&store), ["p@50", "q@41"]);
    assert!(store.reader().may_delete(None));
}

#[test]
fn a_departure_that_a_list_showed_while_a_wider_one_was_requested_is_no_deletion() {
    let (store, gold) = selecting();
    let wide = widened(&store, gold);
    let start = store.begin_list(wide);
    list(&store, gold, &[("q", 41)], 100);
    let items = vec![object("p", 50), object("q", 41)];
    assert_eq!(store.replace(wide, start, items, &at(95)).1, Settled::Continued);
    assert_eq!(shown(&store), ["p@50", "q@41"]);
    assert!(store.observe_deletion(wide, &object("p", 97)).is_some(), "it was deleted before 100");
}

#[test]
fn a_departure_while_a_wider_list_is_requested_is_decided_by_the_wider_watch() {
    for is_deleted in [true, false] {
        let (store, gold) = selecting();
        let wide = widened(&store, gold);
        let start = store.begin_list(wide);
        store.observe_deletion(gold, &object("p", 60));
        store.replace(wide, start, vec![object("p", 40), object("q", 41)], &at(55));
        assert_eq!(shown(&store), ["q@41"], "its deletion may follow");
        if is_deleted {
            assert!(store.observe_deletion(wide, &object("p", 60)).is_none());
        } else {
            assert!(store.observe(wide, object("p", 60)).is_some());
        }
        assert_eq!(shown(&store).len(), if is_deleted { 1 } else { 2 });
    }
}

/// No event of the narrower watch would remove it.
#[test]
fn what_the_earlier_watch_shows_while_a_narrower_one_lists_is_dropped_unless_that_selects_it() {
    let store = Store::new(ty(), [].into());
    let all = store.add_scope(None);
    list(&store, all, &[("p", 40), ("q", 41)], 45);
    let narrow = store.add_successor(None, Some(GOLD.to_owned()), vec![all]);
    let start = store.begin_list(narrow);
    for object in [object("x", 60), object("y", 61)] {
        store.observe(all, object);
    }
    let is_selected = |object: &Object| ["q", "y"].contains(&object.name());
    assert!(store.drop_unselected(narrow, &at(55), &is_selected).is_empty(), "it is not listed");
    store.replace(narrow, start, vec![object("q", 41)], &at(55));
    assert_eq!(shown(&store), ["q@41", "x@60", "y@61"]);
    let dropped = store.drop_unselected(narrow, &at(55), &is_selected);
    assert_eq!(dropped.len(), 1, "operators are notified");
    assert_eq!(shown(&store), ["q@41", "y@61"]);
}

#[test]
fn an_object_that_was_deleted_stays_deleted_for_a_wider_watch() {
    let (store, gold) = selecting();
    let key = ObjectKey::namespaced("ns", "p");
    store.mark_deleted(&key, object("p", 40).uid());
    store.observe_deletion(gold, &object("p", 50));
    let wide = widened(&store, gold);
    list(&store, wide, &[("q", 41)], 55);
    assert!(store.overlay(object("p", 48)).is_none(), "a late reply");
    store.observe_deletion(wide, &object("q", 60));
    assert_eq!(list(&store, wide, &[("q", 41)], 65), Settled::VersionRegressed);
}

#[test]
fn a_streamed_list_of_the_earlier_watch_removes_nothing_that_the_wider_one_has_shown() {
    let (store, gold) = selecting();
    drop(store.begin_list(gold));
    let wide = widened(&store, gold);
    list(&store, wide, &[("p", 50), ("q", 41)], 55);
    assert!(store.observe_deletion_within_list(gold, &object("p", 50)).is_none());
    let (key, uid) = (ObjectKey::namespaced("ns", "p"), object("p", 50).uid().clone());
    assert!(store.observe_end_within_list(gold, &key, &uid, &at(50)).is_none());
    assert_eq!(shown(&store), ["p@50", "q@41"]);
}

/// All namespaces are forbidden for a while, so that only the fallback of `ns` could be widened.
#[test]
fn an_earlier_watch_of_all_namespaces_removes_nothing_that_a_wider_one_of_a_namespace_shows() {
    let store = Store::new(ty(), [].into());
    let gold = store.add_selecting_scope(None, Some(GOLD.to_owned()));
    list(&store, gold, &[("q", 41)], 45);
    let wide = store.add_successor(Some("ns".to_owned()), None, vec![]);
    list(&store, wide, &[("p", 50), ("q", 41)], 55);
    assert!(store.observe_deletion(gold, &object("p", 50)).is_none());
    list(&store, gold, &[("q", 41)], 60);
    assert_eq!(shown(&store), ["p@50", "q@41"]);
    assert!(store.observe_deletion(wide, &object("p", 61)).is_some());
}

#[test]
fn a_successor_knows_that_a_server_went_back() {
    let (store, gold) = selecting();
    store.observe(gold, object("q", 90));
    let wide = widened(&store, gold);
    assert_eq!(list(&store, wide, &[("p", 30), ("q", 31)], 35), Settled::VersionRegressed);
    assert_eq!(shown(&store), ["p@30", "q@31"], "the lost history would hide later changes");

    let (store, gold) = selecting();
    store.has_gone_back(gold);
    let wide = widened(&store, gold);
    assert_eq!(list(&store, wide, &[("p", 30)], 1_000), Settled::VersionRegressed);
}

#[test]
fn what_the_earlier_watch_shows_while_its_successor_lists_is_no_sign_of_a_backup() {
    let (store, gold) = selecting();
    let wide = widened(&store, gold);
    let start = store.begin_list(wide);
    store.observe(gold, object("q", 90));
    let items = vec![object("p", 40), object("q", 41)];
    assert_eq!(store.replace(wide, start, items, &at(55)).1, Settled::Continued);
    assert_eq!(shown(&store), ["p@40", "q@90"]);
}

#[test]
fn deletions_that_are_held_for_a_scope_are_held_for_its_successor() {
    let (store, gold) = selecting();
    assert_eq!(list(&store, gold, &[("p", 20)], 30), Settled::VersionRegressed);
    let hold = store.hold(gold).unwrap();
    let wide = widened(&store, gold);
    assert_eq!(list(&store, wide, &[("p", 20)], 35), Settled::Continued);
    assert!(!store.reader().may_delete(None), "the minute is not over");
    store.release_deletions(hold);
    assert!(store.reader().may_delete(None));
}

#[test]
fn a_list_with_the_earlier_selector_forgets_no_undecodable_object_that_the_wider_list_shows() {
    let (store, gold) = selecting();
    let wide = widened(&store, gold);
    let start = store.begin_list(wide);
    assert!(store.mark_undecodable_by(wide, undecodable("x", 50)));
    list(&store, gold, &[("p", 40), ("q", 41)], 55);
    store.replace(wide, start, vec![object("p", 40), object("q", 41)], &at(55));
    assert!(store.reader().undecodable_at(&ObjectKey::namespaced("ns", "x")).is_some());
    list(&store, wide, &[("p", 40), ("q", 41)], 60);
    assert!(store.reader().undecodable().is_empty(), "it is gone");
}

/// The earlier watch lags behind, and ends before it would have shown the deletion.
#[test]
fn a_wider_list_forgets_an_undecodable_object_that_only_the_earlier_watch_has_shown() {
    for (version, is_known) in [(50, false), (60, true)] {
        let (store, gold) = selecting();
        let wide = widened(&store, gold);
        let start = store.begin_list(wide);
        assert!(store.mark_undecodable_by(gold, undecodable("x", version)));
        store.replace(wide, start, vec![object("p", 40), object("q", 41)], &at(55));
        let known = store.reader().undecodable_at(&ObjectKey::namespaced("ns", "x"));
        assert_eq!(known.is_some(), is_known, "@{version}");
        assert!(!store.mark_undecodable_by(gold, undecodable("y", 54)), "it has ended");
        assert_eq!(store.reader().undecodable().len(), usize::from(is_known));
    }
}

#[test]
fn an_object_that_a_list_lacked_does_not_come_back_in_an_older_version() {
    let (store, gold) = selecting();
    let wide = widened(&store, gold);
    let start = store.begin_list(wide);
    store.observe(gold, object("p", 60));
    list(&store, gold, &[("q", 41)], 100);
    store.replace(wide, start, vec![object("p", 40), object("q", 41)], &at(55));
    assert_eq!(shown(&store), ["q@41"], "60 follows");
    assert!(store.observe(wide, object("p", 60)).is_some());
}

#[test]
fn an_undecodable_object_that_two_lists_show_is_known_to_both() {
    let store = Store::new(ty(), [].into());
    let [all, one] = [None, Some("ns".to_owned())].map(|namespace| store.add_scope(namespace));
    let [of_all, of_one] = [all, one].map(|scope| store.begin_list(scope));
    store.mark_undecodable_by(one, undecodable("x", 8));
    store.mark_undecodable_by(all, undecodable("x", 8));
    store.replace(all, of_all, vec![], &at(11));
    store.replace(one, of_one, vec![], &at(11));
    assert_eq!(store.reader().undecodable().len(), 1);
}

#[test]
fn who_waits_for_an_object_learns_that_it_has_gone_since() {
    let (store, gold) = selecting();
    let reader = store.reader();
    let has_left = |name, version| reader.has_left_since(object(name, 0).uid(), &at(version));
    assert!(!has_left("p", 40) && !has_left("unknown", 40));
    store.observe_deletion(gold, &object("p", 50));
    assert!(has_left("p", 40) && !has_left("p", 50), "it was read after it left");
    store.mark_deleted(object("q", 41).key(), object("q", 41).uid());
    assert!(has_left("q", 41));
    let (store, gold) = selecting();
    list(&store, gold, &[("q", 41)], 100);
    let reader = store.reader();
    assert!(!reader.has_left_since(object("p", 0).uid(), &at(50)), "it may have left before");
}
