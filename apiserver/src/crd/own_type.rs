//! The type `CustomResourceDefinition` itself.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    group_resource::GroupResource,
    resource::{Origin, Resource, Resources},
    schema::Schema,
};

const GROUP: &str = "apiextensions.k8s.io";
const KIND: &str = "CustomResourceDefinition";

/// The resource `customresourcedefinitions`.
pub(crate) fn resource() -> Resource {
    let id = GroupResource::new(GROUP, "customresourcedefinitions");
    let id = Arc::new(id);
    Resource {
        storage: Arc::clone(&id),
        id,
        version: "v1".to_owned(),
        storage_version: "v1".to_owned(),
        kind: KIND.to_owned(),
        list_kind: format!("{KIND}List"),
        singular: "customresourcedefinition".to_owned(),
        short_names: vec!["crd".to_owned(), "crds".to_owned()],
        categories: vec!["api-extensions".to_owned()],
        namespaced: false,
        has_status: true,
        scale: None,
        has_generation: true,
        schema: Arc::new(Arc::new(Schema::from_open_api(&open_api())).into()),
        empty: Some(json!({
            "spec": {
                "group": "",
                "names": { "kind": "", "plural": "" },
                "scope": "",
                "versions": null,
            },
            "status": {
                "acceptedNames": { "kind": "", "plural": "" },
                "conditions": null,
                "storedVersions": null,
            },
        })),
        epoch: 0,
        deprecation: None,
        columns: Arc::new([]),
        origin: Origin::Definition,
    }
}

/// The resource of definitions among those that are served.
pub(crate) fn served(resources: &Resources) -> Option<&Resource> {
    resources.by_kind(GROUP, KIND).map(AsRef::as_ref)
}

fn open_api() -> Value {
    json!({
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": text(),
            "kind": text(),
            "metadata": { "type": "object" },
            "spec": spec(),
            "status": status(),
        },
    })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn texts() -> Value {
    json!({ "type": "array", "items": text(), "x-kubernetes-list-type": "atomic" })
}

fn names() -> Value {
    json!({
        "type": "object",
        "properties": {
            "plural": text(),
            "singular": text(),
            "shortNames": texts(),
            "kind": text(),
            "listKind": text(),
            "categories": texts(),
        },
    })
}

fn spec() -> Value {
    json!({
        "type": "object",
        "properties": {
            "group": text(),
            "names": names(),
            "scope": text(),
            "preserveUnknownFields": { "type": "boolean" },
            "conversion": {
                "type": "object",
                "properties": {
                    "strategy": text(),
                    "webhook": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
                },
            },
            "versions": { "type": "array", "x-kubernetes-list-type": "atomic", "items": version() },
        },
    })
}

fn version() -> Value {
    let anything = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    json!({
        "type": "object",
        "properties": {
            "name": text(),
            "served": { "type": "boolean" },
            "storage": { "type": "boolean" },
            "deprecated": { "type": "boolean" },
            "deprecationWarning": text(),
            "schema": { "type": "object", "properties": { "openAPIV3Schema": anything } },
            "subresources": {
                "type": "object",
                "properties": {
                    "status": anything,
                    "scale": {
                        "type": "object",
                        "properties": {
                            "specReplicasPath": text(),
                            "statusReplicasPath": text(),
                            "labelSelectorPath": text(),
                        },
                    },
                },
            },
            "additionalPrinterColumns": list_of(&[
                "name", "type", "format", "description", "jsonPath",
            ], &["priority"]),
            "selectableFields": list_of(&["jsonPath"], &[]),
        },
    })
}

fn list_of(texts: &[&str], integers: &[&str]) -> Value {
    let mut properties = json!({});
    for name in texts {
        properties[*name] = text();
    }
    for name in integers {
        properties[*name] = json!({ "type": "integer" });
    }
    json!({
        "type": "array",
        "x-kubernetes-list-type": "atomic",
        "items": { "type": "object", "properties": properties },
    })
}

fn status() -> Value {
    let mut conditions = list_of(
        &["type", "status", "lastTransitionTime", "reason", "message"],
        &["observedGeneration"],
    );
    conditions["x-kubernetes-list-type"] = json!("map");
    conditions["x-kubernetes-list-map-keys"] = json!(["type"]);
    conditions["items"]["required"] = json!(["type"]);
    json!({
        "type": "object",
        "properties": {
            "conditions": conditions,
            "acceptedNames": names(),
            "storedVersions": texts(),
            "observedGeneration": { "type": "integer" },
        },
    })
}
