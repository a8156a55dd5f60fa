//! Shared by the tests of server-side apply: a schema as JSON, and an object that managers apply to and
//! update in sequence.

mod applying;
mod encoding;
mod errors;
mod lists;
mod schema_changes;
mod updating;

use std::sync::Arc;

use serde_json::{Value, json};

use super::{ApplyError, Request, apply, field_set::FieldSet, fields_v1, track_update};
use crate::schema::{ListType, MapType, Schema, SchemaType};

/// The part of a CRD's schema that these tests need.
fn schema(node: &Value) -> Schema {
    let text = |key: &str| node.get(key).and_then(Value::as_str);
    let flag = |key: &str| node.get(key).and_then(Value::as_bool).unwrap_or_default();
    let child = |key: &str| node.get(key).map(|child| Arc::new(schema(child)));
    let properties = node.get("properties").and_then(Value::as_object).into_iter().flatten();
    Schema {
        ty: text("type").map(schema_type),
        properties: properties.map(|(name, p)| (name.clone(), Arc::new(schema(p)))).collect(),
        additional_properties: child("additionalProperties"),
        items: child("items"),
        default: node.get("default").cloned(),
        list_type: list_type(node),
        map_type: match text("x-kubernetes-map-type") {
            Some("atomic") => MapType::Atomic,
            _ => MapType::Granular,
        },
        preserve_unknown_fields: flag("x-kubernetes-preserve-unknown-fields"),
        int_or_string: flag("x-kubernetes-int-or-string"),
        embedded_resource: flag("x-kubernetes-embedded-resource"),
        rules: text("format").map(|format| json!({"format": format})),
        ..Schema::default()
    }
}

fn schema_type(name: &str) -> SchemaType {
    match name {
        "object" => SchemaType::Object,
        "array" => SchemaType::Array,
        "string" => SchemaType::String,
        "integer" => SchemaType::Integer,
        "number" => SchemaType::Number,
        "boolean" => SchemaType::Boolean,
        other => panic!("no such type: {other}"),
    }
}

fn list_type(node: &Value) -> ListType {
    match node.get("x-kubernetes-list-type").and_then(Value::as_str) {
        Some("set") => ListType::Set,
        Some("map") => {
            let keys = node["x-kubernetes-list-map-keys"].as_array().expect("a map list has keys");
            let keys = keys.iter().map(|key| key.as_str().expect("keys are names").to_owned());
            ListType::Map(keys.collect())
        }
        _ => ListType::Atomic,
    }
}

/// A resource with one field of each kind below `spec`.
fn every_kind() -> Schema {
    let string = json!({"type": "string"});
    let port = json!({"type": "object", "properties": {
        "port": {"type": "integer"},
        "protocol": {"type": "string", "default": "TCP"},
        "name": string,
        "labels": {"type": "object", "additionalProperties": string},
    }});
    let child = json!({"type": "object", "properties": {
        "name": string,
        "value": {"type": "integer"},
        "tags": {"type": "array", "items": string, "x-kubernetes-list-type": "set"},
        "inner": {"type": "object", "properties": {"a": string, "b": string}},
    }});
    schema(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "replicas": {"type": "integer"},
            "ratio": {"type": "number"},
            "text": string,
            "flag": {"type": "boolean"},
            "when": {"type": "string", "format": "date-time"},
            "port": {"x-kubernetes-int-or-string": true},
            "struct": {"type": "object", "properties": {
                "a": string, "b": string,
                "deeper": {"type": "object", "properties": {"c": string, "d": string}},
            }},
            "map": {"type": "object", "additionalProperties": string},
            "structs": {"type": "object", "additionalProperties": child},
            "atomicMap": {"type": "object", "additionalProperties": string,
                "x-kubernetes-map-type": "atomic"},
            "atomicList": {"type": "array", "items": string},
            "atomicStructs": {"type": "array", "items": child},
            "set": {"type": "array", "items": string, "x-kubernetes-list-type": "set"},
            "numbers": {"type": "array", "items": {"type": "number"},
                "x-kubernetes-list-type": "set"},
            "children": {"type": "array", "items": child, "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"]},
            "ports": {"type": "array", "items": port, "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["port", "protocol"]},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "any": {"x-kubernetes-preserve-unknown-fields": true},
            "template": {"type": "object", "x-kubernetes-embedded-resource": true,
                "properties": {"spec": {"type": "object", "properties": {"a": string}}}},
        }},
        "status": {"type": "object", "properties": {"phase": string, "ready": {"type": "integer"}}},
    }}))
}

/// An object with its history of writes. The clock advances by a second with each write.
struct Live {
    schema: Schema,
    object: Option<Value>,
    version: &'static str,
    subresource: Option<&'static str>,
    reset: &'static [&'static str],
    seconds: u32,
}

impl Live {
    fn new() -> Self {
        Self::of(every_kind())
    }

    fn of(schema: Schema) -> Self {
        let (version, subresource) = ("example.com/v1", None);
        Self { schema, object: None, version, subresource, reset: &["status"], seconds: 0 }
    }

    fn through(&mut self, subresource: Option<&'static str>, reset: &'static [&'static str]) {
        self.subresource = subresource;
        self.reset = reset;
    }

    /// A whole object whose other fields are `fields`.
    fn whole(&self, mut fields: Value) -> Value {
        fields["apiVersion"] = json!(self.version);
        fields["kind"] = json!("Thing");
        fields["metadata"]["name"] = json!("thing");
        fields["metadata"]["namespace"] = json!("default");
        fields
    }

    fn send<T>(&mut self, manager: &str, write: impl FnOnce(&Self, &Request<'_>) -> T) -> T {
        self.seconds += 1;
        let now = format!("2026-01-01T00:00:{:02}Z", self.seconds);
        let request = Request {
            manager,
            api_version: self.version,
            subresource: self.subresource,
            now: &now,
            reset: self.reset,
            empty: None,
            versions: None,
        };
        write(self, &request)
    }

    fn try_apply(&mut self, manager: &str, fields: Value, force: bool) -> Result<(), ApplyError> {
        let applied = self.whole(fields);
        let result = self.send(manager, |live, request| {
            apply(live.object.as_ref(), &applied, force, &live.schema, request)
        });
        result.map(|object| self.store(object))
    }

    /// What a server adds when it stores an object.
    fn store(&mut self, mut object: Value) {
        object["metadata"]["uid"] = json!("1");
        self.object = Some(object);
    }

    fn apply_spec(&mut self, manager: &str, spec: Value) {
        self.try_apply(manager, of_spec(spec), false).expect("it applies");
    }

    fn force_spec(&mut self, manager: &str, spec: Value) {
        self.try_apply(manager, of_spec(spec), true).expect("it applies by force");
    }

    fn refused_spec(&mut self, manager: &str, spec: Value) -> String {
        let refused = self.try_apply(manager, of_spec(spec), false);
        refused.expect_err("it does not apply").to_string()
    }

    /// Stores what `change` makes of the object (of an empty one, at first).
    fn update(&mut self, manager: &str, change: impl FnOnce(&mut Value)) {
        let mut after = self.object.clone().unwrap_or_else(|| self.whole(json!({})));
        change(&mut after);
        let object = self.send(manager, |live, request| {
            track_update(live.object.as_ref(), after, &live.schema, request)
        });
        self.store(object);
    }

    fn object(&self) -> &Value {
        self.object.as_ref().expect("it was written")
    }

    fn spec(&self) -> &Value {
        &self.object()["spec"]
    }

    /// The managers in their order, each as `name Operation: .path .path`.
    fn managers(&self) -> Vec<String> {
        let entries = self.object()["metadata"]["managedFields"].as_array().cloned();
        entries.unwrap_or_default().iter().map(describe_entry).collect()
    }

    /// The paths of one manager, as `name Operation`.
    fn fields_of(&self, who: &str) -> String {
        let managers = self.managers();
        let found = managers.iter().find_map(|line| line.strip_prefix(&format!("{who}: ")));
        found.unwrap_or("nothing").to_owned()
    }

    /// The time of the entry of one manager; empty when it has none.
    fn time_of(&self, manager: &str) -> &str {
        let entries = self.object()["metadata"]["managedFields"].as_array().expect("managed");
        let entry = entries.iter().find(|entry| entry["manager"] == manager).expect("is there");
        entry["time"].as_str().unwrap_or_default()
    }
}

fn of_spec(spec: Value) -> Value {
    let mut fields = json!({});
    fields["spec"] = spec;
    fields
}

fn describe_entry(entry: &Value) -> String {
    let fields = fields_v1::decode(&entry["fieldsV1"]).expect("our own encoding");
    let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let subresource = entry["subresource"].as_str().map(|s| format!("/{s}")).unwrap_or_default();
    format!("{} {}{subresource}: {}", text("manager"), text("operation"), describe_set(&fields))
}

fn describe_set(set: &FieldSet) -> String {
    let mut paths: Vec<_> = set.paths();
    paths.sort();
    let paths = paths.iter().map(|path| super::path_element::display(path));
    paths.collect::<Vec<_>>().join(" ")
}
