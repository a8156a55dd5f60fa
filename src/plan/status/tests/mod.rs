//! Which fields of a status are sent, and which are not.

mod children;
mod conditions;
mod shared;

use super::*;
use crate::{
    object::{K8sType, KeptManagers},
    operator::{ChildState, ChildStatus, ConditionNames, ConditionStatus},
    reply::StatusSchema,
};

const NOW: &str = "2026-02-02T00:00:00Z";
const BEFORE: &str = "2026-01-01T00:00:00Z";

fn parent(status: &Value) -> Object {
    let ty = K8sType::namespaced("example.com/v1", "App", "apps");
    let value = json!({
        "metadata": {
            "name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "7", "generation": 3,
        },
        "status": status,
    });
    Object::from_value(&ty, &value, &KeptManagers::default()).unwrap()
}

fn schema() -> StatusSchema {
    let text = json!({"type": "string"});
    let status = json!({"type": "object", "properties": {
        "phase": text,
        "mode": {"type": "string", "default": "auto"},
        "observedGeneration": {"type": "integer"},
        "nested": {"type": "object", "properties": {"a": text, "b": text}},
        "items": {"type": "array", "items": {"type": "object", "properties": {"x": text}}},
        "free": {"type": "object", "additionalProperties": {"type": "string"}},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "conditions": {"type": "array", "items": {"type": "object", "properties": {
            "type": text, "status": text, "reason": text, "message": text,
            "lastTransitionTime": text, "observedGeneration": {"type": "integer"},
        }}},
    }});
    StatusSchema::from_open_api(Some(&status), true)
}

fn ready(status: ConditionStatus, message: &str) -> Condition {
    Condition::new("Ready", status, "Synced", message)
}

fn patched(
    present: &Value,
    handler: Option<&Value>,
    conditions: &[Condition],
    schema: &StatusSchema,
) -> (Option<Value>, Vec<String>) {
    let patch = status_patch(StatusInput {
        parent: &parent(present),
        shared: None,
        handler,
        conditions,
        cleared: &["Conflict".to_owned()],
        children: ChildrenField::Off,
        names: &ConditionNames::default(),
        beside: None,
        observed_generation: true,
        schema,
        now: NOW,
    });
    if let Some(body) = &patch.body {
        assert_eq!(body["metadata"], json!({"resourceVersion": "7"}));
    }
    (patch.body.map(|body| body["status"].clone()), paths(&patch.undeclared))
}

fn paths(undeclared: &[UndeclaredField]) -> Vec<String> {
    undeclared.iter().map(|field| field.path.clone()).collect()
}

fn patch(present: &Value, handler: &Value) -> Option<Value> {
    patched(present, Some(handler), &[], &schema()).0
}

#[test]
fn a_status_that_is_up_to_date_is_not_written() {
    let present = json!({"phase": "x", "observedGeneration": 3, "nested": {"a": "1"}});
    assert_eq!(patch(&present, &json!({"phase": "x", "nested": {"a": "1", "b": null}})), None);
}

#[test]
fn fields_that_the_handler_no_longer_returns_are_removed_deeply() {
    let present = json!({
        "phase": "x", "observedGeneration": 3, "nested": {"a": "1", "b": "2"},
        "items": [{"x": "1"}, {"x": "2"}], "free": {"k": "v"},
    });
    let handler = json!({"nested": {"a": "1"}, "items": [{"x": "2"}]});
    let expected = json!({
        "phase": null, "nested": {"b": null}, "items": [{"x": "2"}], "free": null,
    });
    assert_eq!(patch(&present, &handler), Some(expected));
}

/// The CRD has something else under that name.
#[test]
fn a_field_named_conditions_that_is_no_list_belongs_to_the_handler() {
    let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let properties = json!({"conditions": texts, "phase": {"type": "string"}});
    let status = json!({"type": "object", "properties": properties});
    let schema = StatusSchema::from_open_api(Some(&status), true);
    let handler = json!({"phase": "Up", "conditions": {"door": "open"}});
    let conditions = [ready(ConditionStatus::True, "all is well")];
    let (patch, undeclared) = patched(&json!({}), Some(&handler), &conditions, &schema);
    assert_eq!((patch, undeclared), (Some(handler), vec![".status.conditions".to_owned()]));
}

#[test]
fn a_field_that_the_server_defaults_again_is_not_removed() {
    let present = json!({"mode": "auto", "observedGeneration": 3});
    assert_eq!(patch(&present, &json!({})), None);
    let changed = json!({"mode": "manual", "observedGeneration": 3});
    assert_eq!(patch(&changed, &json!({})), Some(json!({"mode": null})));
}

#[test]
fn without_a_status_from_the_handler_its_fields_stay() {
    let present = json!({"phase": "x", "observedGeneration": 3});
    for handler in [None, Some(&Value::Null)] {
        assert_eq!(patched(&present, handler, &[], &schema()).0, None);
    }
}

#[test]
fn the_generation_is_set_only_where_it_is_declared() {
    assert_eq!(patch(&json!({}), &json!({})), Some(json!({"observedGeneration": 3})));
    let handler = json!({"phase": "x"});
    let unknown = patched(&json!({}), Some(&handler), &[], &StatusSchema::unknown());
    assert_eq!(unknown.0, Some(handler));
}

#[test]
fn undeclared_fields_are_reported_and_not_sent() {
    let handler = json!({
        "observedGeneration": 9, "odd": 1, "nested": {"z": 1}, "items": [{"y": "1"}],
        "free": {"any": "1"}, "open": {"any": {"thing": 1}},
    });
    let (patch, undeclared) = patched(&json!({}), Some(&handler), &[], &schema());
    assert_eq!(
        patch,
        Some(json!({
            "observedGeneration": 3, "nested": {}, "items": [{}],
            "free": {"any": "1"}, "open": {"any": {"thing": 1}},
        }))
    );
    let mut undeclared = undeclared;
    undeclared.sort();
    assert_eq!(undeclared, [".status.items[*].y", ".status.nested.z", ".status.odd"]);
}

#[test]
fn undeclared_fields_are_attributed_to_the_handler_or_the_framework() {
    let status = json!({"type": "object", "properties": {"phase": {"type": "string"}}});
    let (odd, conditions) = (json!({"odd": 1}), json!({"odd": 1, "conditions": []}));
    for (handler, expected) in [
        (None, vec![UndeclaredField::own("conditions")]),
        (
            Some(&odd),
            vec![
                UndeclaredField::returned(".status.odd".to_owned()),
                UndeclaredField::own("conditions"),
            ],
        ),
        (
            Some(&conditions),
            vec![
                UndeclaredField::returned(".status.conditions".to_owned()),
                UndeclaredField::returned(".status.odd".to_owned()),
            ],
        ),
    ] {
        let mut patch = status_patch(StatusInput {
            parent: &parent(&json!({})),
            shared: None,
            handler,
            conditions: &[ready(ConditionStatus::True, "")],
            cleared: &[],
            children: ChildrenField::Off,
            names: &ConditionNames::default(),
            beside: None,
            observed_generation: true,
            schema: &StatusSchema::from_open_api(Some(&status), true),
            now: NOW,
        });
        patch.undeclared.sort_by_key(|field| (field.wanted_by, field.path.clone()));
        assert_eq!(patch.undeclared, expected, "{handler:?}");
    }
}

#[test]
fn an_undeclared_field_is_reported_once_for_all_items_and_names() {
    let item = json!({"type": "object", "properties": {"ready": {"type": "boolean"}}});
    let status = json!({"type": "object", "properties": {
        "pods": {"type": "object", "additionalProperties": item},
        "list": {"type": "array", "items": item},
    }});
    let schema = StatusSchema::from_open_api(Some(&status), true);
    let pods: serde_json::Map<_, _> =
        (0..50).map(|pod| (format!("pod-{pod}"), json!({"ready": true, "node": "a"}))).collect();
    let list: Vec<&Value> = pods.values().collect();
    let handler = json!({"pods": pods, "list": list, "odd": 1});
    let (_, mut undeclared) = patched(&json!({}), Some(&handler), &[], &schema);
    undeclared.sort();
    assert_eq!(undeclared, [".status.list[*].node", ".status.odd", ".status.pods.*.node"]);
}

#[test]
fn a_type_without_a_status_is_never_written() {
    let handler = json!({"phase": "x"});
    let no_subresource = StatusSchema::from_open_api(Some(&json!({"type": "object"})), false);
    for schema in [StatusSchema::none(), no_subresource] {
        let conditions = [ready(ConditionStatus::True, "")];
        let (patch, undeclared) = patched(&json!({}), Some(&handler), &conditions, &schema);
        let expected = [".status", ".status.conditions"].map(str::to_owned);
        assert_eq!((patch, undeclared), (None, expected.to_vec()));
    }
}

#[test]
fn conditions_are_not_sent_where_they_are_not_declared() {
    let status = json!({"type": "object", "properties": {"phase": {"type": "string"}}});
    let schema = StatusSchema::from_open_api(Some(&status), true);
    let conditions = [ready(ConditionStatus::True, "")];
    let (patch, undeclared) = patched(&json!({}), None, &conditions, &schema);
    assert_eq!((patch, undeclared), (None, vec![".status.conditions".to_owned()]));
}

#[test]
fn a_status_that_accepts_any_field_accepts_conditions() {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let reference = json!({"allOf": [{"$ref": "#/somewhere"}]});
    for status in [open, reference] {
        let schema = StatusSchema::from_open_api(Some(&status), true);
        let conditions = [ready(ConditionStatus::True, "")];
        let (patch, undeclared) = patched(&json!({}), None, &conditions, &schema);
        assert_eq!(patch.unwrap()["conditions"][0]["lastTransitionTime"], NOW);
        assert!(undeclared.is_empty());
    }
}

#[test]
fn applying_the_patch_leaves_nothing_to_write() {
    let handler = json!({"phase": "x", "conditions": [{"type": "Mine", "status": "True"}]});
    let conditions = [ready(ConditionStatus::True, "m")];
    for schema in [schema(), StatusSchema::unknown()] {
        let (patch, _) = patched(&json!({}), Some(&handler), &conditions, &schema);
        let again = patched(&patch.unwrap(), Some(&handler), &conditions, &schema);
        assert_eq!(again.0, None);
    }
}

#[test]
fn debug_shows_no_content() {
    let schema = schema();
    let handler = json!({"phase": "top-secret"});
    let object = parent(&json!({}));
    let input = StatusInput {
        parent: &object,
        shared: None,
        handler: Some(&handler),
        conditions: &[],
        cleared: &[],
        children: ChildrenField::Off,
        names: &ConditionNames::default(),
        beside: None,
        observed_generation: false,
        schema: &schema,
        now: NOW,
    };
    assert!(!format!("{input:?} {:?}", status_patch(input)).contains("top-secret"));
}
