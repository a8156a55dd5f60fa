//! Managed fields after a change of the schema, and the annotation of client-side apply.

use serde_json::{Value, json};

use super::{Live, schema};

fn with_spec(node: &Value) -> crate::schema::Schema {
    let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let spec = json!({"type": "object", "properties": {"field": node, "map": map}});
    schema(&json!({"type": "object", "properties": {"spec": spec}}))
}

#[test]
fn a_map_that_becomes_atomic_is_owned_whole_by_who_owned_a_part() {
    let mut node = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let mut live = Live::of(with_spec(&node));
    live.apply_spec("alice", json!({"field": {"a": "1"}}));
    live.apply_spec("bob", json!({"field": {"b": "1"}}));
    node["x-kubernetes-map-type"] = json!("atomic");
    live.schema = with_spec(&node);
    live.update("carol", |object| object["spec"]["map"] = json!({"k": "v"}));
    assert_eq!(live.fields_of("alice Apply"), ".spec.field");
    assert_eq!(live.fields_of("bob Apply"), ".spec.field");
    let message = live.refused_spec("alice", json!({"field": {"a": "1"}}));
    assert!(message.ends_with("conflict with \"bob\": .spec.field"), "{message}");
}

#[test]
fn a_list_that_becomes_atomic_is_owned_whole_by_who_owned_a_part() {
    let mut node = json!({"type": "array", "items": {"type": "string"},
        "x-kubernetes-list-type": "set"});
    let mut live = Live::of(with_spec(&node));
    live.apply_spec("alice", json!({"field": ["a"]}));
    node["x-kubernetes-list-type"] = json!("atomic");
    live.schema = with_spec(&node);
    live.apply_spec("alice", json!({"field": ["b"]}));
    assert_eq!(live.managers(), ["alice Apply: .spec.field"]);
    assert_eq!(live.spec()["field"], json!(["b"]));
}

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// An object that client-side apply created with these fields.
fn client_side_applied(spec: &Value) -> Live {
    let mut live = Live::new();
    let whole = live.whole(json!({"spec": spec})).to_string();
    live.update("kubectl-client-side-apply", |object| {
        object["metadata"]["annotations"] = json!({ANNOTATION: whole});
        object["spec"] = spec.clone();
    });
    live
}

#[test]
fn kubectl_takes_over_from_client_side_apply_and_keeps_the_annotation_current() {
    let mut live = client_side_applied(&json!({"replicas": 1, "text": "x"}));
    live.apply_spec("kubectl", json!({"replicas": 2, "text": "x"}));
    assert_eq!(live.spec()["replicas"], 2);
    assert_eq!(live.fields_of("kubectl Apply"), ".spec.replicas .spec.text");
    let annotation = live.object()["metadata"]["annotations"][ANNOTATION].as_str();
    let applied: Value = serde_json::from_str(annotation.expect("it stays")).expect("JSON");
    assert_eq!(applied["spec"]["replicas"], 2);
}

#[test]
fn kubectl_still_conflicts_over_what_changed_after_client_side_apply() {
    let mut live = client_side_applied(&json!({"replicas": 1, "text": "x"}));
    live.update("carol", |object| object["spec"]["replicas"] = json!(5));
    let message = live.refused_spec("kubectl", json!({"replicas": 2, "text": "y"}));
    let expected = "Apply failed with 1 conflict: conflict with \"carol\" using \
                    example.com/v1: .spec.replicas";
    assert_eq!(message, expected);
}

#[test]
fn other_managers_have_conflicts_with_client_side_apply() {
    let mut live = client_side_applied(&json!({"replicas": 1}));
    let message = live.refused_spec("alice", json!({"replicas": 2}));
    assert!(message.contains("conflict with \"kubectl-client-side-apply\""), "{message}");
}
