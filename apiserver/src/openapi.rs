//! `OpenAPI` v3, thin: an index, and per group version what `kubectl` needs before it sends an
//! apply, and the schemas of custom resources.
//!
//! Not here: the schemas of built-in types (`kubectl explain` finds nothing about them).

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use serde_json::{Map, Value, json};

use crate::resource::{Origin, Resource, Resources};

/// `/openapi/v3`.
pub(crate) fn index(resources: &Resources) -> Value {
    let mut paths: BTreeMap<String, u64> = BTreeMap::new();
    for resource in resources.iter() {
        let mut hash = DefaultHasher::new();
        let path = group_version_path(&resource.id.group, &resource.version);
        let seed = paths.get(&path).copied().unwrap_or_default();
        (seed, &resource.id, resource.epoch).hash(&mut hash);
        paths.insert(path, hash.finish());
    }
    let paths: Map<String, Value> = paths
        .into_iter()
        .map(|(path, hash)| {
            let url = format!("/openapi/v3/{path}?hash={hash:016X}");
            (path, json!({ "serverRelativeURL": url }))
        })
        .collect();
    json!({ "paths": paths })
}

fn group_version_path(group: &str, version: &str) -> String {
    match group {
        "" => format!("api/{version}"),
        _ => format!("apis/{group}/{version}"),
    }
}

/// The document of one group version; `None` when it is not served.
pub(crate) fn document(resources: &Resources, group: &str, version: &str) -> Option<Value> {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    for resource in resources.of_group_version(group, version) {
        paths.extend(resource_paths(resource));
        schemas.insert(schema_name(resource), schema(resource));
    }
    if paths.is_empty() {
        return None;
    }
    Some(json!({
        "openapi": "3.0.0",
        "info": { "title": "Kubernetes", "version": crate::discovery::IMITATED },
        "paths": paths,
        "components": { "schemas": schemas },
    }))
}

fn resource_paths(resource: &Resource) -> Vec<(String, Value)> {
    let root = group_version_path(&resource.id.group, &resource.version);
    let plural = &resource.id.plural;
    let collection = if resource.namespaced {
        format!("/{root}/namespaces/{{namespace}}/{plural}")
    } else {
        format!("/{root}/{plural}")
    };
    let object = format!("{collection}/{{name}}");
    let mut paths = vec![
        (
            collection,
            json!({ "get": operation(resource, "list"), "post": write(resource, "post") }),
        ),
        (
            object.clone(),
            json!({
                "get": operation(resource, "get"),
                "put": write(resource, "put"),
                "patch": write(resource, "patch"),
                "delete": operation(resource, "delete"),
            }),
        ),
    ];
    if resource.has_status {
        let status = json!({
            "get": operation(resource, "get"),
            "put": write(resource, "put"),
            "patch": write(resource, "patch"),
        });
        paths.push((format!("{object}/status"), status));
    }
    paths
}

fn operation(resource: &Resource, action: &str) -> Value {
    json!({
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": kind(resource),
        "responses": { "200": { "description": "OK" } },
    })
}

fn write(resource: &Resource, action: &str) -> Value {
    let mut operation = operation(resource, action);
    let text = json!({ "type": "string", "uniqueItems": true });
    let parameter = |name: &str| json!({ "name": name, "in": "query", "schema": text });
    operation["parameters"] =
        json!([parameter("dryRun"), parameter("fieldManager"), parameter("fieldValidation")]);
    operation
}

fn kind(resource: &Resource) -> Value {
    json!({
        "group": resource.id.group,
        "version": resource.version,
        "kind": resource.kind,
    })
}

/// `com.example.v1.EchoServer`
fn schema_name(resource: &Resource) -> String {
    let group = resource.id.group.split('.').rev().collect::<Vec<_>>().join(".");
    let group = if group.is_empty() { "core" } else { &group };
    format!("{group}.{}.{}", resource.version, resource.kind)
}

fn schema(resource: &Resource) -> Value {
    let mut schema = match &resource.origin {
        Origin::Custom(custom) => custom.open_api.clone(),
        Origin::BuiltIn(_) | Origin::Definition => json!({ "type": "object" }),
    };
    schema["x-kubernetes-group-version-kind"] = json!([kind(resource)]);
    if resource.is_custom() {
        let properties = &mut schema["properties"];
        properties["apiVersion"] = json!({ "type": "string" });
        properties["kind"] = json!({ "type": "string" });
        if properties["metadata"].is_null() {
            properties["metadata"] = json!({ "type": "object" });
        }
    }
    schema
}
