//! The definitions of custom types: the schema that their author wrote, with what the server adds.

use serde_json::{Value, json};

use super::{
    content::reference,
    definitions::{Definitions, KINDS},
};
use crate::resource::{CustomType, Resource};

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
/// A built-in type from which the fields that all types have are taken.
const SAMPLE: &str = "io.k8s.api.core.v1.ConfigMap";
const SAMPLE_LIST: &str = "io.k8s.api.core.v1.ConfigMapList";
const EMBEDDED_VERSION: &str = "apiVersion defines the versioned schema of this representation of an object. More info: \
     https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const EMBEDDED_KIND: &str = "kind is a string value representing the type of this object. In CamelCase. More info: \
     https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";

/// A definition of a custom type, whose schema is read when it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct CustomDefinition<'r> {
    pub(super) resource: &'r Resource,
    pub(super) custom: &'r CustomType,
    pub(super) is_list: bool,
}

impl CustomDefinition<'_> {
    pub(super) fn schema(&self, definitions: &Definitions<'_>) -> Value {
        let of = if self.is_list { list } else { object };
        of(definitions, self.resource, self.custom)
    }
}

/// `com.example.v1.EchoServer`
pub(super) fn name(resource: &Resource) -> String {
    named(resource, &resource.kind)
}

/// `com.example.v1.EchoServerList`
pub(super) fn list_name(resource: &Resource) -> String {
    named(resource, &resource.list_kind)
}

fn named(resource: &Resource, kind: &str) -> String {
    let group = resource.id.group.split('.').rev().collect::<Vec<_>>().join(".");
    format!("{group}.{}.{kind}", resource.version)
}

/// The definition of an object.
fn object(definitions: &Definitions<'_>, resource: &Resource, custom: &CustomType) -> Value {
    let schema = Some(custom.open_api.open_api());
    let mut schema = schema.filter(Value::is_object).unwrap_or_else(|| json!({ "type": "object" }));
    complete(definitions, &mut schema);
    let properties = &mut schema["properties"];
    properties["apiVersion"] = sample(definitions, SAMPLE, "apiVersion");
    properties["kind"] = sample(definitions, SAMPLE, "kind");
    properties["metadata"] = metadata(definitions, SAMPLE, OBJECT_META);
    schema[KINDS] = kinds(resource, &resource.kind);
    add_selectable(&mut schema, custom);
    schema
}

/// What field selectors may name.
fn add_selectable(schema: &mut Value, custom: &CustomType) {
    let field = |path: &String| json!({ "fieldPath": path.trim_start_matches('.') });
    let selectable: Vec<Value> = custom.selectable_fields.iter().map(field).collect();
    if !selectable.is_empty() {
        schema["x-kubernetes-selectable-fields"] = json!(selectable);
    }
}

/// The definition of a list.
fn list(definitions: &Definitions<'_>, resource: &Resource, custom: &CustomType) -> Value {
    let plural = &resource.id.plural;
    let items = format!(
        "List of {plural}. More info: \
         https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
    );
    let mut schema = json!({
        "description": format!("{} is a list of {}", resource.list_kind, resource.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": sample(definitions, SAMPLE_LIST, "apiVersion"),
            "kind": sample(definitions, SAMPLE_LIST, "kind"),
            "items": { "description": items, "type": "array", "items": reference(&name(resource)) },
            "metadata": metadata(definitions, "io.k8s.apimachinery.pkg.apis.meta.v1.Status", LIST_META),
        },
        KINDS: kinds(resource, &resource.list_kind),
    });
    add_selectable(&mut schema, custom);
    schema
}

fn kinds(resource: &Resource, kind: &str) -> Value {
    json!([{ "group": resource.id.group, "version": resource.version, "kind": kind }])
}

/// Adds what keywords imply: the fields of an object within, the two types of a number or text.
fn complete(definitions: &Definitions<'_>, schema: &mut Value) {
    for inner in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get_mut(inner).filter(|inner| inner.is_object()) {
            complete(definitions, inner);
        }
    }
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flatten().for_each(|(_, schema)| complete(definitions, schema));
    if schema["x-kubernetes-int-or-string"] == true
        && schema["anyOf"].is_null()
        && schema["allOf"].is_null()
    {
        schema["anyOf"] = json!([{ "type": "integer" }, { "type": "string" }]);
    }
    if schema["x-kubernetes-embedded-resource"] == true {
        embed(definitions, schema);
    }
    // Reading a missing field above has added it.
    if let Some(fields) = schema.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
}

fn embed(definitions: &Definitions<'_>, schema: &mut Value) {
    let text = |description: &str| json!({ "description": description, "type": "string" });
    schema["properties"]["apiVersion"] = text(EMBEDDED_VERSION);
    schema["properties"]["kind"] = text(EMBEDDED_KIND);
    schema["properties"]["metadata"] = metadata(definitions, SAMPLE, OBJECT_META);
    let mut required = schema["required"].as_array().cloned().unwrap_or_default();
    for field in ["kind", "apiVersion"] {
        if !required.iter().any(|known| known == field) {
            required.push(json!(field));
        }
    }
    schema["required"] = json!(required);
}

fn metadata(definitions: &Definitions<'_>, sample_of: &str, meta: &str) -> Value {
    let description = sample(definitions, sample_of, "metadata")["description"].clone();
    json!({ "description": description, "allOf": [reference(meta)] })
}

fn sample(definitions: &Definitions<'_>, name: &str, field: &str) -> Value {
    let schema: Value =
        definitions.get(name).and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
    schema["properties"][field].clone()
}
