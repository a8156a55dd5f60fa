//! What an object keeps, shows and refuses.

use serde_json::{Value, json};

use super::{object::Facts, *};
use crate::object::{FieldSet, K8sType, Uid};

fn config_map() -> K8sType {
    K8sType::namespaced("v1", "ConfigMap", "configmaps")
}

fn text() -> String {
    json!({
        "kind": "ConfigMap", "apiVersion": "v1",
        "metadata": {
            "name": "a", "namespace": "ns", "uid": "u1", "resourceVersion": "7",
            "generation": 3,
            "labels": {"l": "v"},
            "ownerReferences": [{"uid": "p0"}, {"uid": "p1", "controller": true}],
            "managedFields": [
                {"manager": "echo", "operation": "Update", "fieldsV1": {"f:x": {}}},
                {"manager": "echo", "operation": "Apply", "fieldsV1": {"f:data": {}}},
                {"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:y": {}}},
            ],
        },
        "data": {"k": "secret-value"},
    })
    .to_string()
}

fn parsed() -> Object {
    let managers = KeptManagers::new(["echo"]);
    Object::parse(&config_map(), &text(), &managers).unwrap()
}

/// It could be kept as text, but its fields would seem to be missing when they are read.
#[test]
fn an_object_that_is_nested_too_deep_is_refused() {
    let metadata = json!({"name": "a", "uid": "u", "resourceVersion": "1"});
    for (levels, is_read) in [(120, true), (121, false)] {
        let deep = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        let text = format!(r#"{{"metadata":{metadata},"spec":{deep}}}"#);
        let ty = K8sType::cluster_scoped("v1", "Thing", "things");
        match Object::parse(&ty, &text, &KeptManagers::default()) {
            Ok(object) => {
                assert!(is_read && object.to_value()["spec"] == object.field("spec").unwrap());
            }
            Err(error) => {
                assert!(!is_read && matches!(error, ParseObjectError::TooDeep), "{error}");
            }
        }
    }
}

/// Otherwise a handler would take the field for missing, and its children would be deleted.
#[test]
fn an_object_that_is_json_and_no_tree_is_refused() {
    let ty = K8sType::cluster_scoped("v1", "Thing", "things");
    let metadata = json!({"name": "a", "uid": "5e7", "resourceVersion": "1"});
    for (spec, is_read) in [("1e30", true), ("1e999", false), (r#""\ud800""#, false)] {
        let text = format!(r#"{{"metadata":{metadata},"spec":{{"x":{spec}}}}}"#);
        match Object::parse(&ty, &text, &KeptManagers::default()) {
            Ok(object) => {
                assert!(is_read && object.to_value()["spec"] == object.field("spec").unwrap());
            }
            Err(error) => {
                assert!(!is_read && matches!(error, ParseObjectError::NoTree), "{error}");
            }
        }
    }
}

#[test]
fn an_object_knows_what_routing_needs() {
    let object = parsed();
    assert_eq!(object.key().to_string(), "ns/a");
    assert_eq!(object.controller(), Some(&Uid::new("p1")));
    assert_eq!(object.generation(), Some(3));
    assert!(!object.is_deleting());
    assert_eq!(object.labels()["l"], "v");
}

#[test]
fn only_kept_managers_are_known_and_none_is_in_the_text() {
    let object = parsed();
    for absent in ["managedFields", "kubectl", "apiVersion"] {
        assert!(!object.json().contains(absent), "{absent}");
    }
    assert!(object.is_updated_by("echo") && !object.is_updated_by("kubectl"));
    assert_eq!(object.applied_fields("echo"), FieldSet::parse(r#"{"f:data": {}}"#).ok());
    assert_eq!(object.applied_fields("kubectl"), None);
}

#[test]
fn the_tree_contains_the_type() {
    let value = parsed().to_value();
    assert_eq!((&value["kind"], &value["apiVersion"]), (&json!("ConfigMap"), &json!("v1")));
    assert_eq!(value["data"]["k"], "secret-value");
}

#[test]
fn debug_and_errors_never_show_content() {
    assert!(!format!("{:?}", parsed()).contains("secret-value"));
    let broken = text().replace("\"name\":\"a\"", "\"name\":{\"x\":\"secret-value\"}");
    let error = Object::parse(&config_map(), &broken, &KeptManagers::default()).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secret-value"));
}

#[test]
fn required_fields_must_be_present() {
    for field in ["name", "uid", "resourceVersion"] {
        let mut value: Value = serde_json::from_str(&text()).unwrap();
        value["metadata"].as_object_mut().unwrap().remove(field);
        let error = Object::from_value(&config_map(), &value, &KeptManagers::default());
        assert!(error.unwrap_err().to_string().contains(field));
    }
}

/// There is one for every object in the cluster, and a tree is several times as large as its text.
/// The test names every fact, so that an addition is noticed here.
#[test]
fn an_object_is_its_text_and_a_few_facts_and_no_tree() {
    let object = parsed();
    let Facts { ty, key, uid, version, generation, is_deleting, controller, .. } = &*object.0;
    let Facts { managed, json, metadata, fields, readiness, .. } = &*object.0;
    let named = size_of_val(ty)
        + size_of_val(key)
        + size_of_val(uid)
        + size_of_val(version)
        + size_of_val(generation)
        + size_of_val(is_deleting)
        + size_of_val(controller)
        + size_of_val(managed)
        + size_of_val(json)
        + size_of_val(metadata)
        + size_of_val(fields)
        + size_of_val(readiness);
    assert!(size_of::<Facts>() < named + 8, "one that is not named: {}", size_of::<Facts>());
    assert!(size_of::<Facts>() <= 176, "{} bytes", size_of::<Facts>());
    // No spare capacity, and no more than the text.
    assert!(json.stored() <= object.json().len());
}
