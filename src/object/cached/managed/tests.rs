//! Which managed fields are kept, and how they are shared.

use serde_json::{Value, json};

use super::{super::shared::FEWEST, *};
use crate::object::{K8sType, Object};

fn entry(manager: &str, operation: &str, more: &Value) -> Value {
    let mut entry = json!({
        "manager": manager, "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1",
        "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:data": {"f:a": {}}},
    });
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    entry
}

fn reduce(managers: &KeptManagers, entries: &Value) -> ManagedFields {
    let text = entries.to_string();
    managers.reduce(serde_json::from_str(&text).unwrap(), None)
}

#[test]
fn only_what_operators_wrote_to_the_object_itself_is_kept() {
    let entries = json!([
        entry("kubectl", "Apply", &json!({})),
        entry("op", "Apply", &json!({"subresource": "status", "fieldsV1": {"f:status": {}}})),
        entry("op", "Apply", &json!({})),
        entry("old", "Update", &json!({})),
    ]);
    let kept = reduce(&KeptManagers::new(["op", "old"]), &entries);
    assert_eq!(kept.applied_by("op", None), FieldSet::parse(r#"{"f:data":{"f:a":{}}}"#).ok());
    assert_eq!((kept.applied_by("kubectl", None), kept.applied_by("old", None)), (None, None));
    assert!(kept.has_update_by("old") && !kept.has_update_by("op"));
    assert!(reduce(&KeptManagers::new(["x"]), &entries).kept.is_none());
}

#[test]
fn the_manager_that_wrote_after_the_kept_ones_is_remembered() {
    let at = |time: &str| json!({"time": format!("2026-01-01T00:00:{time}Z")});
    let status = json!({"time": "2026-01-01T00:00:59Z", "subresource": "status"});
    let ours = || entry("op", "Apply", &at("20"));
    for (entries, expected) in [
        (json!([ours()]), None),
        (json!([ours(), entry("hpa", "Update", &at("19"))]), None),
        (json!([entry("hpa", "Update", &at("20")), ours()]), Some("hpa")),
        (
            json!([
                entry("new", "Update", &at("40")),
                ours(),
                entry("old", "Apply", &at("30")),
                entry("kubelet", "Update", &status),
            ]),
            Some("new"),
        ),
        (json!([ours(), entry("timeless", "Update", &json!({"time": null}))]), None),
        (
            json!([
                entry("old", "Update", &at("30")),
                ours(),
                entry(
                    "hpa",
                    "Update",
                    &json!({
                        "time": "2026-01-01T00:00:31Z", "subresource": "scale",
                    })
                ),
            ]),
            Some("hpa"),
        ),
    ] {
        let kept = reduce(&KeptManagers::new(["op"]), &entries);
        assert_eq!(kept.changed_by(), expected, "{entries}");
        assert!(kept.applied_by("op", None).is_some() && kept.applied_by("new", None).is_none());
    }
}

#[test]
fn the_ownership_hash_depends_on_neither_order_nor_time() {
    let managers = KeptManagers::new(["op"]);
    let ours = || entry("op", "Apply", &json!({}));
    let ci = |time: &str| entry("ci", "Apply", &json!({"time": time}));
    let hpa = || entry("hpa", "Update", &json!({}));
    let less = entry("ci", "Apply", &json!({"fieldsV1": {"f:data": {}}}));
    let status = entry("ci", "Apply", &json!({"subresource": "status"}));
    let of_all = |entries: &[Value]| reduce(&managers, &json!(entries)).of_all();
    let both = of_all(&[ours(), ci("1"), hpa()]);
    assert_eq!(of_all(&[hpa(), ci("2"), ours(), status.clone()]), both);
    for other in [vec![ours(), ci("1")], vec![ours(), less, hpa()], vec![ours(), status]] {
        assert_ne!(of_all(&other), both, "{other:?}");
    }
    // Another operator of the process may keep the entries of `ci`.
    let managers = KeptManagers::new(["op", "ci"]);
    let of_all = |entries: &[Value]| reduce(&managers, &json!(entries)).of_all();
    assert_ne!(of_all(&[ours(), ci("1"), hpa()]), of_all(&[ours(), hpa()]));
}

#[test]
fn objects_with_the_same_fields_share_one_copy_and_unused_copies_are_dropped() {
    let managers = KeptManagers::new(["op"]);
    let entries = |name: usize, time: &str| {
        let fields = json!({"f:data": {format!("f:{name}"): {}}});
        json!([entry("op", "Apply", &json!({"time": time, "fieldsV1": fields}))])
    };
    let first = reduce(&managers, &entries(0, "2026-01-01T00:00:00Z"));
    let second = reduce(&managers, &entries(0, "2026-02-02T00:00:00Z"));
    assert!(Arc::ptr_eq(&first.kept.unwrap(), second.kept.as_ref().unwrap()));
    for name in 1..10 * FEWEST {
        reduce(&managers, &entries(name, "2026-01-01T00:00:00Z"));
    }
    assert!(managers.0.entries.lock().unwrap().known.len() <= FEWEST + 1);
    assert!(second.applied_by("op", None).is_some());
}

#[test]
fn children_of_different_parents_share_one_copy_too() {
    let managers = KeptManagers::new(["op"]);
    let kept = ["0a1b", "2c3d"].map(|uid| {
        let owner = json!({format!("k:{{\"uid\":\"{uid}\"}}"): {}});
        let fields = json!({"f:metadata": {"f:ownerReferences": owner}});
        let text = json!([entry("op", "Apply", &json!({"fieldsV1": fields}))]).to_string();
        let uid = Uid::new(uid);
        let kept = managers.reduce(serde_json::from_str(&text).unwrap(), Some(&uid));
        assert_eq!(kept.applied_by("op", Some(&uid)), FieldSet::parse(&fields.to_string()).ok());
        kept.kept.unwrap()
    });
    assert!(Arc::ptr_eq(&kept[0], &kept[1]));
}

#[test]
fn a_manager_that_is_kept_later_is_known_to_have_been_passed_over() {
    let entry = |manager: &str, part: &str| {
        json!({"manager": manager, "operation": "Apply", "subresource": part,
            "fieldsV1": {"f:data": {}}})
    };
    let read = |kept: &KeptManagers| {
        let value = json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "1",
            "managedFields": [entry("a", ""), entry("b", ""), entry("c", "status")]}});
        let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
        Object::from_value(&ty, &value, kept).unwrap()
    };
    let kept = KeptManagers::new(["a"]);
    assert!(!kept.keep(["b"]), "nothing was read yet");
    let before = read(&kept);
    assert!(!kept.keep(["a", "b"]) && !kept.keep(["unknown"]));
    assert!(kept.keep(["c"]), "an entry of the status counts too");
    assert!(!kept.keep(["c"]), "it is kept since");
    let after = read(&kept);
    assert!(!after.is_read_as(&before) && after.is_read_as(&read(&kept)));
}

#[test]
fn labels_that_are_kept_later_matter_if_any_manager_was_passed_over() {
    let kept = KeptManagers::new(["a"]);
    assert!(!kept.keep_labels(["x"]));
    let entries = json!([{"manager": "b", "operation": "Apply", "fieldsV1": {"f:data": {}}}]);
    let value = json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "1",
        "managedFields": entries}});
    let ty = K8sType::namespaced("v1", "ConfigMap", "configmaps");
    Object::from_value(&ty, &value, &kept).unwrap();
    assert!(!kept.keep_labels(["x"]), "it is known");
    assert!(kept.keep_labels(["y"]));
}
