//! The custom types: together they use what a structural schema can say.

use serde_json::{Value, json};

pub(crate) fn definitions() -> Vec<Value> {
    vec![
        definition("widgets", "Widget", "Namespaced", &[widgets()]),
        definition("gadgets", "Gadget", "Cluster", &[gadgets()]),
        definition("gizmos", "Gizmo", "Namespaced", &[gizmos()]),
        definition("gears", "Gear", "Namespaced", &gears()),
    ]
}

fn definition(plural: &str, kind: &str, scope: &str, versions: &[Value]) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {
            "group": "example.com",
            "scope": scope,
            "names": {"plural": plural, "kind": kind},
            "versions": versions,
        },
    })
}

fn widgets() -> Value {
    let text = json!({"type": "string"});
    let spec = json!({
        "type": "object",
        "required": ["size"],
        "properties": {
            "size": {"type": "integer", "minimum": 0, "maximum": 10},
            "color": {"type": "string", "default": "red", "enum": ["red", "green", "blue"]},
            "tags": {"type": "array", "maxItems": 3, "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "required": ["name"],
                    "properties": {"name": text, "value": {"type": "string", "default": "v"}}}},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": text},
            "port": {"x-kubernetes-int-or-string": true},
            "extra": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "nested": {"type": "object", "nullable": true, "default": {}, "properties": {
                "on": {"type": "boolean", "default": false},
                "deep": {"type": "object", "additionalProperties": text}}},
            "when": {"type": "string", "format": "date-time"},
            "name": {"type": "string", "pattern": "^[a-z]*$", "minLength": 2, "maxLength": 10},
            "map": {"type": "object", "additionalProperties": text, "x-kubernetes-map-type": "atomic"},
            "replicas": {"type": "integer"},
        },
    });
    let status = json!({"type": "object", "properties": {
        "phase": text, "replicas": {"type": "integer"}, "selector": text}});
    json!({
        "name": "v1", "served": true, "storage": true,
        "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"}},
        "additionalPrinterColumns": [
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "When", "type": "date", "jsonPath": ".spec.when"},
            {"name": "Tags", "type": "string", "jsonPath": ".spec.tags[*].name", "priority": 1},
        ],
        "schema": {"openAPIV3Schema": {"type": "object", "required": ["spec"],
            "properties": {"spec": spec, "status": status}}},
    })
}

/// Cluster-scoped, without subresources, almost without a schema.
fn gadgets() -> Value {
    json!({
        "name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "anything": {"x-kubernetes-preserve-unknown-fields": true},
                "object": {"type": "object", "x-kubernetes-embedded-resource": true,
                    "x-kubernetes-preserve-unknown-fields": true}}},
            "status": {"type": "object", "properties": {"x": {"type": "integer"}}}}}},
    })
}

/// Its fields are at the top. None is called `items`: the real server takes such an object for a list, sends no
/// event of it, and hangs up watches.
fn gizmos() -> Value {
    json!({
        "name": "v1beta1", "served": true, "storage": true, "deprecated": true,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "mode": {"type": "string", "enum": ["slow", "fast"], "default": "slow"},
            "things": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["id"],
                "items": {"type": "object", "required": ["id"],
                    "properties": {"id": {"type": "integer"}}}},
            "limit": {"type": "number", "exclusiveMinimum": true, "minimum": 0.5, "multipleOf": 0.5},
            "info": {"type": "object", "maxProperties": 2,
                "additionalProperties": {"type": "string"}}}}},
    })
}

/// Two versions without a webhook, each with fields and defaults that the other lacks, also of the status. The second is
/// stored.
fn gears() -> [Value; 2] {
    ["v1", "v2"].map(|name| {
        let text = json!({"type": "string"});
        let own = json!({"type": "string", "default": name});
        let spec = json!({"type": "object", "default": {}, "properties": {
            "shared": text, "teeth": {"type": "integer", "default": 12},
            format!("only{name}"): text, format!("default{name}"): own,
            "list": {"type": "array", "items": {"type": "object", "properties": {
                "shared": text, format!("item{name}"): own}}}}});
        let status = json!({"type": "object", "default": {"phase": name}, "properties": {
            "phase": text, "turns": {"type": "integer", "default": 0}, format!("only{name}"): text}});
        json!({
            "name": name, "served": true, "storage": name == "v2", "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}},
        })
    })
}
