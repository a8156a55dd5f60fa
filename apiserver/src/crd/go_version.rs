//! Versions as kube-apiserver prints them inside of messages: as the Go structs that it has.

use serde_json::Value;

use crate::schema::{
    go_schema::{self, object},
    go_value,
};

/// The versions of a definition.
pub(super) fn print(versions: &[Value]) -> String {
    list(versions, version)
}

fn version(version: &Value) -> String {
    let schema = &version["schema"];
    let open_api = &schema["openAPIV3Schema"];
    let open_api = unless_null(open_api, go_schema::print);
    object(&[
        ("Name", text(version, "name")),
        ("Served", flag(version, "served")),
        ("Storage", flag(version, "storage")),
        ("Deprecated", flag(version, "deprecated")),
        ("DeprecationWarning", go_value::json(&version["deprecationWarning"])),
        ("Schema", unless_null(schema, |_| object(&[("OpenAPIV3Schema", open_api.clone())]))),
        ("Subresources", unless_null(&version["subresources"], subresources)),
        ("AdditionalPrinterColumns", unless_null(&version["additionalPrinterColumns"], columns)),
        ("SelectableFields", unless_null(&version["selectableFields"], fields)),
    ])
}

fn subresources(value: &Value) -> String {
    object(&[
        ("Status", unless_null(&value["status"], |_| "{}".to_owned())),
        ("Scale", unless_null(&value["scale"], scale)),
    ])
}

fn scale(value: &Value) -> String {
    object(&[
        ("SpecReplicasPath", text(value, "specReplicasPath")),
        ("StatusReplicasPath", text(value, "statusReplicasPath")),
        ("LabelSelectorPath", go_value::json(&value["labelSelectorPath"])),
    ])
}

fn columns(columns: &Value) -> String {
    list(columns.as_array().map_or(&[], Vec::as_slice), |column| {
        object(&[
            ("Name", text(column, "name")),
            ("Type", text(column, "type")),
            ("Format", text(column, "format")),
            ("Description", text(column, "description")),
            ("Priority", column["priority"].as_i64().unwrap_or_default().to_string()),
            ("JSONPath", text(column, "jsonPath")),
        ])
    })
}

fn fields(fields: &Value) -> String {
    list(fields.as_array().map_or(&[], Vec::as_slice), |field| {
        object(&[("JSONPath", text(field, "jsonPath"))])
    })
}

fn text(value: &Value, field: &str) -> String {
    go_value::json(&value[field].as_str().unwrap_or_default().into())
}

fn flag(value: &Value, field: &str) -> String {
    (value[field] == true).to_string()
}

fn unless_null(value: &Value, print: impl Fn(&Value) -> String) -> String {
    if value.is_null() { "null".to_owned() } else { print(value) }
}

fn list(values: &[Value], print: impl Fn(&Value) -> String) -> String {
    let values: Vec<_> = values.iter().map(print).collect();
    format!("[{}]", values.join(","))
}
