//! Refused applies and their messages.

use serde_json::{Value, json};

use super::{Live, schema};

/// An applied spec, and the message after the name of the object.
fn refused() -> Vec<(Value, &'static str)> {
    vec![
        (json!({"foo": 1}), ".spec.foo: field not declared in schema"),
        (json!({"struct": {"z": 1}}), ".spec.struct.z: field not declared in schema"),
        (
            json!({"atomicStructs": [{"name": "x"}, {"z": 1}]}),
            ".spec.atomicStructs[1].z: field not declared in schema",
        ),
        (
            json!({"children": [{"name": "x", "z": 1}]}),
            ".spec.children[name=\"x\"].z: field not declared in schema",
        ),
        (json!({"replicas": "one"}), ".spec.replicas: expected numeric (int or float), got string"),
        (
            json!({"replicas": [1]}),
            ".spec.replicas: expected numeric (int or float), got []interface {}",
        ),
        (json!({"text": 1}), ".spec.text: expected string, got &value.valueUnstructured{Value:1}"),
        (
            json!({"text": {"a": [true]}}),
            ".spec.text: expected string, got &value.valueUnstructured{Value:map[string]interface \
             {}{\"a\":[]interface {}{true}}}",
        ),
        (json!({"flag": "yes"}), ".spec.flag: expected boolean, got &{yes}"),
        (json!({"struct": "x"}), ".spec.struct: expected map, got &{x}"),
        (json!({"set": {"a": 1}}), ".spec.set: expected list, got &{map[a:1]}"),
        (json!({"when": []}), ".spec.when: expected any scalar, got &{[]}"),
        (json!({"set": ["a", "b", "a"]}), ".spec.set: duplicate entries for key [=\"a\"]"),
        (
            json!({"children": [{"name": "x"}, {"name": "x"}]}),
            ".spec.children: duplicate entries for key [name=\"x\"]",
        ),
        (
            json!({"ports": [{"port": 80}, {"port": 80, "protocol": "TCP"}]}),
            ".spec.ports: duplicate entries for key [port=80,protocol=\"TCP\"]",
        ),
        (
            json!({"children": [{"value": 1}]}),
            ".spec.children: element 0: associative list with keys has an element that omits all \
             key fields [\"name\"] (and doesn't have default values for any key fields)",
        ),
        (
            json!({"children": [null]}),
            ".spec.children: element 0: associative list with keys may not have a null element",
        ),
        (
            json!({"set": [null]}),
            ".spec.set: element 0: associative list without keys has an element that's an \
             explicit null",
        ),
        (
            json!({"flag": 1, "foo": 1}),
            "errors:\n  .spec.flag: expected boolean, got &{1}\n  .spec.foo: field not declared \
             in schema",
        ),
    ]
}

#[test]
fn an_applied_object_that_does_not_fit_the_schema_is_refused_in_the_servers_words() {
    for (spec, problem) in refused() {
        let mut live = Live::new();
        let message = live.refused_spec("alice", spec);
        let object = "default/thing; example.com/v1, Kind=Thing";
        assert_eq!(message, format!("failed to create typed patch object ({object}): {problem}"));
    }
}

#[test]
fn such_an_error_has_the_code_500() {
    let error = Live::new().try_apply("alice", json!({"spec": {"foo": 1}}), false);
    assert_eq!(error.expect_err("undeclared").code(), 500);
}

#[test]
fn undeclared_fields_of_metadata_are_refused() {
    let error = Live::new().try_apply("alice", json!({"metadata": {"foo": 1}}), false);
    let message = error.expect_err("undeclared").to_string();
    assert!(message.ends_with(": .metadata.foo: field not declared in schema"), "{message}");
}

#[test]
fn undeclared_fields_are_kept_at_any_depth_below_a_node_that_keeps_them() {
    let mut live = Live::of(schema(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
            "inner": {"type": "object", "properties": {"a": {"type": "string"}}},
        }},
    }})));
    live.apply_spec("alice", json!({"b": 1, "inner": {"a": "x", "c": 1}}));
    assert_eq!(live.fields_of("alice Apply"), ".spec.b .spec.inner.a .spec.inner.c");
}

#[test]
fn without_a_schema_everything_is_deduced_but_metadata() {
    let mut live = Live::of(schema(&json!({})));
    let metadata = json!({"finalizers": ["a"]});
    live.try_apply("alice", json!({"metadata": metadata, "data": {"a": {"b": [1]}}}), false)
        .expect("it applies");
    let fields = ".data .data.a .data.a.b .metadata.finalizers[=\"a\"]";
    assert_eq!(live.fields_of("alice Apply"), fields);
}

#[test]
fn an_applied_object_with_managers_is_refused() {
    for managers in [json!([]), json!([{}])] {
        let metadata = json!({"managedFields": managers});
        let error = Live::new().try_apply("alice", json!({"metadata": metadata}), false);
        let error = error.expect_err("managers are given");
        assert_eq!(error.to_string(), "metadata.managedFields must be nil");
        assert_eq!(error.code(), 400);
    }
    let metadata = json!({"managedFields": null});
    Live::new().try_apply("alice", json!({"metadata": metadata}), false).expect("null is nothing");
}

#[test]
fn an_applied_object_of_another_version_is_refused() {
    let live = Live::new();
    let applied = json!({"apiVersion": "v1", "kind": "Thing"});
    let request = super::Request {
        manager: "alice",
        api_version: live.version,
        subresource: None,
        now: "2026-01-01T00:00:00Z",
        reset: &[],
        empty: None,
        versions: None,
    };
    let error = super::apply(None, &applied, false, &live.schema, &request);
    let error = error.expect_err("another version");
    assert_eq!(error.to_string(), "invalid object type: /v1, Kind=Thing");
    assert_eq!(error.code(), 400);
}

#[test]
fn managers_of_the_stored_object_that_cannot_be_read_stop_an_apply() {
    let mut live = Live::new();
    live.apply_spec("alice", json!({"replicas": 1}));
    let entry = "/metadata/managedFields/0/operation";
    *live.object.as_mut().and_then(|o| o.pointer_mut(entry)).expect("an entry") = json!("Guess");
    let message = live.refused_spec("alice", json!({"replicas": 1}));
    assert_eq!(message, "failed to decode managed fields: operation must be `Apply` or `Update`");
}

#[test]
fn several_conflicts_are_grouped_by_manager_and_each_is_a_cause() {
    let mut live = Live::new();
    live.update("kubectl-edit", |object| object["spec"] = json!({"text": "x", "flag": true}));
    live.apply_spec("alice", json!({"replicas": 1}));
    live.through(Some("scale"), &[]);
    live.update("scaler", |object| object["spec"]["ratio"] = json!(2));
    live.through(None, &["status"]);
    let spec = json!({"spec": {"text": "y", "flag": false, "replicas": 2, "ratio": 3}});
    let error = live.try_apply("bob", spec, false).expect_err("conflicts");
    assert_eq!(
        error.to_string(),
        "Apply failed with 4 conflicts: conflicts with \"alice\":\n- .spec.replicas\nconflicts \
         with \"kubectl-edit\" using example.com/v1:\n- .spec.flag\n- .spec.text\nconflicts with \
         \"scaler\" with subresource \"scale\" using example.com/v1:\n- .spec.ratio"
    );
    assert_eq!(error.code(), 409);
    let super::ApplyError::Conflicts(conflicts) = error else { panic!("conflicts") };
    let causes: Vec<_> =
        conflicts.causes().into_iter().map(|cause| (cause.message, cause.field)).collect();
    assert_eq!(causes.len(), 4);
    assert_eq!(
        causes[1],
        ("conflict with \"kubectl-edit\" using example.com/v1".to_owned(), ".spec.flag".to_owned())
    );
}
