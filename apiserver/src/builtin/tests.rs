//! Objects as the real server returned them, and the type table as a whole.

use serde_json::Value;

use super::*;

/// Requests and replies recorded from kube-apiserver of the version that the data are of, with
/// uid and times masked.
const CREATED: &str = include_str!("testdata/created.json");

/// Status updates that also try to change other fields, and their results.
const STATUS: &str = include_str!("testdata/status.json");

fn type_of(object: &Value) -> &'static BuiltinType {
    let text = |name: &str| object[name].as_str().unwrap();
    let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
    find(group, version, text("kind")).unwrap()
}

fn created(input: &Value, expected: &Value) -> Value {
    let ty = type_of(input);
    let mut object = input.clone();
    default(ty, &mut object);
    for name in ["uid", "creationTimestamp", "namespace"] {
        path::copy(&mut object, expected, &format!("metadata.{name}"));
    }
    prepare_for_create(ty, &mut object);
    if ty.kind == "Service" && needs_cluster_ip(&object) {
        set_cluster_ip(&mut object, cluster_ip(expected).unwrap());
    }
    object
}

#[test]
fn created_objects_are_those_that_the_real_server_returned() {
    let cases: Vec<Value> = serde_json::from_str(CREATED).unwrap();
    assert!(cases.len() >= 28);
    for case in &cases {
        let object = created(&case["input"], &case["created"]);
        let pretty = |value| serde_json::to_string_pretty(value).unwrap();
        assert_eq!(pretty(&object), pretty(&case["created"]), "{}", case["name"]);
    }
}

#[test]
fn defaulting_a_second_time_changes_nothing() {
    for case in serde_json::from_str::<Vec<Value>>(CREATED).unwrap() {
        let mut again = case["created"].clone();
        default(type_of(&again), &mut again);
        assert_eq!(again, case["created"]);
    }
}

#[test]
fn an_update_that_changes_nothing_is_the_object_that_was() {
    for case in serde_json::from_str::<Vec<Value>>(CREATED).unwrap() {
        let old = &case["created"];
        let mut new = old.clone();
        path::remove(&mut new, "status");
        prepare_for_update(type_of(old), &mut new, old);
        assert_eq!(&new, old, "{}", case["name"]);
    }
}

#[test]
fn a_status_update_changes_what_the_real_server_lets_it_change() {
    for case in serde_json::from_str::<Vec<Value>>(STATUS).unwrap() {
        let (old, mut new) = (&case["old"], case["new"].clone());
        default(type_of(old), &mut new);
        prepare_for_status_update(type_of(old), &mut new, old);
        let mut returned = case["returned"].clone();
        path::copy(&mut returned, &new, "metadata.resourceVersion");
        assert_eq!(new, returned, "{}", case["name"]);
    }
}

#[test]
fn only_finalize_takes_the_finalizer_of_a_namespace() {
    let ty = find("", "v1", "Namespace").unwrap();
    let mut old = serde_json::json!({ "metadata": { "name": "a" } });
    prepare_for_create(ty, &mut old);
    let mut new = old.clone();
    path::remove(&mut new, "spec.finalizers");
    let mut finalized = new.clone();
    prepare_for_update(ty, &mut new, &old);
    assert_eq!(new, old);
    prepare_for_finalize(ty, &mut finalized, &old);
    assert_eq!(path::get(&finalized, "spec.finalizers"), None);
}

#[test]
fn names_follow_the_rule_of_their_type() {
    let complaints = |kind, group, name| name_rule(find(group, "v1", kind).unwrap())(name, false);
    assert_eq!(complaints("Role", "rbac.authorization.k8s.io", "system:a"), [""; 0]);
    assert_eq!(complaints("Pod", "", "a.b"), [""; 0]);
    assert_ne!(complaints("StatefulSet", "apps", "a.b"), [""; 0]);
}

#[test]
fn every_type_has_a_schema_with_metadata() {
    assert!(types().len() > 45, "{}", types().len());
    for ty in types() {
        assert!(ty.schema.properties.contains_key("metadata"), "{}", ty.kind);
    }
}
