//! The objects and the answers of scripts.

use serde_json::{Value, json};

use crate::object::K8sType;

/// A status code and a body.
pub(super) type Reply = (u16, Value);

pub(super) fn app() -> K8sType {
    K8sType::namespaced("example.com/v1", "App", "apps")
}

/// What the server publishes of the type of the parent.
pub(super) fn openapi() -> Value {
    let text = json!({"type": "string"});
    let condition = json!({"type": "object", "properties": {
        "type": text, "status": text, "reason": text, "message": text,
    }});
    json!({
        "paths": {"/apis/example.com/v1/namespaces/{namespace}/apps/{name}/status": {}},
        "components": {"schemas": {"App": {
            "x-kubernetes-group-version-kind": [
                {"group": "example.com", "version": "v1", "kind": "App"},
            ],
            "properties": {"status": {"type": "object", "properties": {
                "conditions": {"type": "array", "items": condition},
            }}},
        }}},
    })
}

// === objects ===

/// The parent, at a version.
pub(super) fn parent(version: &str) -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "App",
        "metadata": {
            "name": "p", "namespace": "ns", "uid": "pu", "resourceVersion": version,
            "generation": 1,
        },
        "spec": {},
    })
}

/// The child as the handler returns it.
pub(super) fn desired(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"x": 2}})
}

/// A child of the parent, made by the operator, as the server holds it.
pub(super) fn child(version: &str, x: u64) -> Value {
    json!({
        "metadata": {
            "name": "c", "namespace": "ns", "uid": "cu", "resourceVersion": version,
            "labels": {
                "operetta.dev/parent-uid": "pu", "app.kubernetes.io/managed-by": "op",
            },
            "ownerReferences": [{
                "apiVersion": "example.com/v1", "kind": "App", "name": "p", "uid": "pu",
                "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": {"x": x},
    })
}

/// A child in another namespace, made by the operator.
pub(super) fn uncollectable_child(name: Value) -> Value {
    let mut left = child("5", 1);
    let metadata = left["metadata"].as_object_mut().unwrap();
    metadata.insert("name".to_owned(), name);
    metadata.insert("namespace".to_owned(), json!("elsewhere"));
    metadata.remove("ownerReferences");
    let labels = json!({"f:operetta.dev/parent-uid": {}, "f:app.kubernetes.io/managed-by": {}});
    let fields = json!({"f:metadata": {"f:labels": labels}});
    let entry = json!({"manager": "op", "operation": "Apply", "fieldsV1": fields});
    metadata.insert("managedFields".to_owned(), json!([entry]));
    left
}

// === replies ===

/// An error in the server's form.
pub(super) fn refusal(code: u16, reason: &str) -> Reply {
    // A server names the object that it is about.
    let details = json!({"name": "c"});
    (code, json!({"kind": "Status", "code": code, "reason": reason, "details": details}))
}

/// The parent after its status was applied.
pub(super) fn with_status(body: &Value) -> Reply {
    let mut parent = parent("9");
    parent["status"] = body["status"].clone();
    (200, parent)
}
