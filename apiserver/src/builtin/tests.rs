//! Objects as the real server returned them, and the type table as a whole.

use serde_json::Value;

use super::*;

/// Requests and replies recorded from kube-apiserver of the version that the data are of, with
/// uid and times masked.
const CREATED: &str = include_str!("testdata/created.json");

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
fn every_type_has_a_schema_with_metadata() {
    assert!(types().len() > 45, "{}", types().len());
    for ty in types() {
        assert!(ty.schema.properties.contains_key("metadata"), "{}", ty.kind);
    }
}
