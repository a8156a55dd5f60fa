//! `OpenAPI` v3, reduced: an index, and per group version what `kubectl` needs before it sends an apply, and
//! the schemas of custom resources.
//!
//! Not here: the schemas of built-in types (`kubectl explain` finds nothing about them), and
//! version 2, of which there is no more than its frame.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use serde_json::{Map, Value, json};

use crate::resource::{Origin, Resource, Resources};

const TITLE: &str = "Kubernetes";
/// The form in which kubectl wants version 2; it asks with an `@`, which is no media type.
const VERSION_2_MEDIA: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

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

/// `/openapi/v2`: an empty document. kubectl looks there for kinds that it has not found in version 3, and
/// treats a missing document as an error.
pub(crate) fn version_2(accept: &str) -> (&'static str, Vec<u8>) {
    if !accept.contains("proto-openapi.spec.v2") {
        let info = json!({ "title": TITLE, "version": crate::discovery::IMITATED });
        let document = json!({ "swagger": "2.0", "info": info, "paths": {} });
        return ("application/json", document.to_string().into_bytes());
    }
    // Two fields of a protobuf message: `swagger`, and `info` with its own two.
    let info = [protobuf_field(1, TITLE.as_bytes()), version_field()].concat();
    (VERSION_2_MEDIA, [protobuf_field(1, b"2.0"), protobuf_field(2, &info)].concat())
}

fn version_field() -> Vec<u8> {
    protobuf_field(2, crate::discovery::IMITATED.as_bytes())
}

/// A field of bytes, shorter than 128.
fn protobuf_field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).expect("the texts of this file are short");
    [&[number << 3 | 2, length], bytes].concat()
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
        "info": { "title": TITLE, "version": crate::discovery::IMITATED },
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
