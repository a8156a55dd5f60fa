use serde_json::{Value, json};

use super::*;

fn pruned(schema: &Value, mut object: Value) -> (Value, Vec<String>) {
    let paths = prune(&Schema::from_open_api(schema), &mut object);
    (object, paths)
}

#[test]
fn undeclared_fields_are_dropped_at_every_depth_and_named() {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "ports": {"type": "array", "items": {
            "type": "object", "properties": {"port": {"type": "integer"}}
        }},
        "labels": {"type": "object", "additionalProperties": {
            "type": "object", "properties": {"x": {"type": "string"}}
        }}
    }}}});
    let object = json!({"spec": {
        "typo": {"deep": 1},
        "ports": [{"port": 1, "typo": 2}, "text"],
        "labels": {"a": {"x": "1", "y": 2}}
    }, "extra": null});
    let (object, paths) = pruned(&schema, object);
    assert_eq!(
        object,
        json!({"spec": {"ports": [{"port": 1}, "text"], "labels": {"a": {"x": "1"}}}})
    );
    assert_eq!(paths, ["extra", "spec.labels.a.y", "spec.ports[0].typo", "spec.typo"]);
}

#[test]
fn metadata_of_the_object_and_of_embedded_resources_is_kept() {
    let schema = json!({"type": "object", "properties": {
        "metadata": {"type": "object"},
        "template": {"type": "object", "x-kubernetes-embedded-resource": true,
            "properties": {"spec": {"type": "object"}}},
        "plain": {"type": "object", "properties": {}}
    }});
    let resource = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}});
    let mut object = resource.clone();
    object["template"] = resource.clone();
    object["plain"] = resource.clone();
    let (object, paths) = pruned(&schema, object);
    assert_eq!(object["metadata"], json!({"name": "x"}));
    assert_eq!(object["template"], resource);
    assert_eq!(object["plain"], json!({}));
    assert_eq!(paths, ["plain.apiVersion", "plain.kind", "plain.metadata"]);
}

#[test]
fn preserved_fields_stay_but_declared_fields_below_them_are_pruned() {
    let schema = json!({"type": "object", "properties": {"spec": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "properties": {"known": {"type": "object", "properties": {"a": {"type": "string"}}}}
    }}});
    let object = json!({"spec": {"any": {"thing": [1]}, "known": {"a": "1", "b": 2}}});
    let (object, paths) = pruned(&schema, object);
    assert_eq!(object, json!({"spec": {"any": {"thing": [1]}, "known": {"a": "1"}}}));
    assert_eq!(paths, ["spec.known.b"]);
}

#[test]
fn elements_of_a_list_that_keeps_undeclared_fields_keep_theirs() {
    let schema = json!({"properties": {"list": {
        "type": "array", "x-kubernetes-preserve-unknown-fields": true,
        "items": {"type": "object", "properties": {
            "a": {"type": "object", "properties": {}}
        }}
    }}});
    let (object, paths) = pruned(&schema, json!({"list": [{"a": {"x": 1}, "b": 2}]}));
    assert_eq!(object, json!({"list": [{"a": {}, "b": 2}]}));
    assert_eq!(paths, ["list[0].a.x"]);
}

#[test]
fn an_empty_schema_drops_everything_but_metadata() {
    let (object, paths) = pruned(&json!({}), json!({"kind": "X", "spec": {}, "": 1, "a.b": [{}]}));
    assert_eq!(object, json!({"kind": "X"}));
    assert_eq!(paths, ["", "a.b", "spec"]);
}

#[test]
fn values_of_the_wrong_type_are_left_to_validation() {
    let schema = json!({"properties": {"spec": {"type": "object", "properties": {}}}});
    for object in
        [json!(null), json!("x"), json!(1e300), json!({"spec": "\0"}), json!({"spec": []})]
    {
        assert_eq!(pruned(&schema, object.clone()), (object, vec![]));
    }
}

#[test]
fn deeply_nested_lists_are_pruned() {
    let mut object = json!({"x": 1});
    for _ in 0..120 {
        object = json!([object]);
    }
    let schema = json!({"properties": {"list": {"type": "array"}}});
    let (_, paths) = pruned(&schema, json!({"list": object}));
    assert_eq!(paths, [format!("list{}.x", "[0]".repeat(120))]);
}
