//! What is remembered of children.

use serde_json::{Value, json};

use super::*;
use crate::diff::hash;
use crate::object::KeptManagers;
use crate::operator::ChildConfig;

fn operator() -> OperatorName {
    OperatorName::new("op").unwrap()
}

fn live(uid: &str, image: &str, others: &Value, fields: &Value) -> Object {
    let value = json!({
        "metadata": {
            "name": "a", "namespace": "ns", "uid": uid, "resourceVersion": "7",
            "labels": {"l": "v"},
            "managedFields": [{"manager": "op", "operation": "Apply", "fieldsV1": fields}],
        },
        "spec": {"containers": [{"name": "c", "image": image, "others": others}]},
    });
    let kept = KeptManagers::new(["op"]);
    Object::from_value(&K8sType::namespaced("v1", "Pod", "pods"), &value, &kept).unwrap()
}

fn fields() -> Value {
    json!({"f:metadata": {"f:labels": {"f:l": {}}}, "f:spec": {"f:containers": {
        "k:{\"name\":\"c\"}": {".": {}, "f:name": {}, "f:image": {}},
    }}})
}

fn write(image: &str) -> Write {
    let body = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "ns", "labels": {"l": "v"}},
        "spec": {"containers": [{"name": "c", "image": image}]},
    });
    let desired_hash = hash::within(usize::MAX, &body).unwrap();
    let id = ChildId::of(&live("u", "", &Value::Null, &fields()));
    Write::new(id, body, desired_hash, ChildConfig::apply()).creating()
}

#[test]
fn the_version_that_an_apply_left_is_settled_for_the_same_desired_state() {
    let reply = live("u", "mirror/x", &json!(1), &fields());
    let mut last_applied = LastApplied::default();
    last_applied.remember(&Settled::new(&write("x"), &reply, &operator()));
    assert!(last_applied.is_settled(&write("x"), &reply));
    assert!(!last_applied.is_settled(&write("y"), &reply));
    assert!(!last_applied.is_settled(&write("x"), &live("v", "mirror/x", &json!(1), &fields())));
    last_applied.remember(&Settled::new(&write("y"), &reply, &operator()));
    assert!(!last_applied.is_settled(&write("x"), &reply) && last_applied.len() == 1);
    last_applied.forget(&write("y").id);
    assert_eq!(last_applied.len(), 0);
}

#[test]
fn a_child_is_alike_while_what_we_own_is_as_our_apply_left_it() {
    let reply = live("u", "mirror/x", &json!(1), &fields());
    let mut last_applied = LastApplied::default();
    last_applied.remember(&Settled::new(&write("x"), &reply, &operator()));
    let less = json!({"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}}}}});
    for (image, live, is_alike) in [
        ("x", reply.clone(), true),
        ("x", live("u", "mirror/x", &json!(2), &fields()), true),
        ("y", reply.clone(), false),
        ("x", live("v", "mirror/x", &json!(1), &fields()), false),
        ("x", live("u", "other", &json!(1), &fields()), false),
        ("x", live("u", "mirror/x", &json!(1), &less), false),
    ] {
        let alike = last_applied.left_alike(&write(image), &live, &operator());
        assert_eq!(alike.is_some(), is_alike, "{image} {live:?}");
    }
}

/// Another desired state that could not be written is not the old one, and trying it again is no
/// change of the handler's response.
#[test]
fn how_a_child_was_left_is_kept_until_the_same_is_written_again() {
    let (left, now) = (live("u", "x", &json!(1), &fields()), live("u", "z", &json!(1), &fields()));
    let mut before = LastApplied::default();
    before.remember(&Settled::new(&write("x"), &left, &operator()));
    for (image, is_kept) in [("x", true), ("y", false)] {
        for seen in [Some(&now), None] {
            let mut last_applied = LastApplied::default();
            last_applied.defer(&write(image), seen, &before);
            assert_eq!(last_applied.left(&write(image).id).is_some(), is_kept, "{image}");
            let children: Vec<_> = seen.into_iter().filter(|_| is_kept).collect();
            assert!(last_applied.are_untouched(&children), "{image}");
            assert_eq!(last_applied.len(), 0, "{image}");
            last_applied.remember(&Settled::new(&write(image), &now, &operator()));
            assert_eq!(last_applied.left(&write(image).id).map(|(_, left)| left), Some(&now));
        }
    }
}

#[test]
fn a_dry_run_that_changes_nothing_of_ours_explains_a_difference() {
    let object = live("u", "mirror/x", &json!(1), &fields());
    for (reply, is_explained) in [
        (live("u", "mirror/x", &json!(2), &fields()), true),
        (live("u", "x", &json!(1), &fields()), false),
        (live("v", "mirror/x", &json!(1), &fields()), false),
    ] {
        assert_eq!(same_owned_fields(&object, &reply, &operator()), is_explained);
    }
}
