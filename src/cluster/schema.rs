//! Parses the schema of a type's status and its secret fields from `OpenAPI` v3.
//!
//! Unlike the CRD, any authenticated user may read the document.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{
    object::{K8sType, SecretFields},
    reply::{StatusSchema, TypeSchema},
};

/// Schemas stay unparsed: a document with hundreds of types would take megabytes as a tree.
#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow, default)]
    paths: BTreeMap<String, &'a RawValue>,
    #[serde(borrow, default)]
    components: Components<'a>,
}

#[derive(Deserialize, Default)]
struct Components<'a> {
    #[serde(borrow, default)]
    schemas: BTreeMap<String, &'a RawValue>,
}

/// The part of a schema that names its type.
#[derive(Deserialize)]
struct Labelled {
    #[serde(default, rename = "x-kubernetes-group-version-kind")]
    kinds: Vec<GroupVersionKind>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GroupVersionKind {
    group: String,
    version: String,
    kind: String,
}

pub(super) fn schemas(
    document: &[u8],
    types: BTreeSet<K8sType>,
) -> serde_json::Result<BTreeMap<K8sType, Option<Arc<TypeSchema>>>> {
    let document: Document<'_> = serde_json::from_slice(document)?;
    let read = |ty| {
        let schema = read(&document, &ty)?.map(Arc::new);
        Ok((ty, schema))
    };
    types.into_iter().map(read).collect()
}

fn read(document: &Document<'_>, ty: &K8sType) -> serde_json::Result<Option<TypeSchema>> {
    let mut schemas = document.components.schemas.values();
    let Some(schema) = schemas.find(|schema| is_of(schema.get(), ty)) else { return Ok(None) };
    let schema: Value = serde_json::from_str(schema.get())?;
    let ending = format!("/{}/{{name}}/status", ty.plural());
    let has_subresource = document.paths.keys().any(|path| path.ends_with(&ending));
    let status = match schema.pointer("/properties/status") {
        // Most refer to the schema of their status instead of containing it.
        _ if ty.is_builtin() && has_subresource => StatusSchema::unknown(),
        Some(status) if status.get("properties").is_none() && is_reference(status) => {
            StatusSchema::unknown()
        }
        // It declares no status and preserves unknown fields.
        None if keeps_unknown(&schema) => {
            StatusSchema::from_open_api(Some(&json!({})), has_subresource)
        }
        status => StatusSchema::from_open_api(status, has_subresource),
    };
    Ok(Some(TypeSchema { status, secrets: SecretFields::of_schema(&schema) }))
}

fn is_reference(status: &Value) -> bool {
    status.get("$ref").is_some() || status.get("allOf").is_some()
}

fn keeps_unknown(schema: &Value) -> bool {
    schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true))
}

fn is_of(schema: &str, ty: &K8sType) -> bool {
    let kinds = serde_json::from_str(schema).map(|Labelled { kinds }| kinds).unwrap_or_default();
    kinds.iter().any(|GroupVersionKind { group, version, kind }| {
        (group.as_str(), version.as_str(), kind.as_str()) == (ty.group(), ty.version(), ty.kind())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_found_by_its_group_version_and_kind() {
        let kinds = json!([{"group": "example.dev", "version": "v1", "kind": "Echo"}]);
        let schema = json!({"x-kubernetes-group-version-kind": kinds}).to_string();
        assert!(is_of(&schema, &K8sType::namespaced("example.dev/v1", "Echo", "echoes")));
        assert!(!is_of(&schema, &K8sType::namespaced("example.dev/v2", "Echo", "echoes")));
        assert!(!is_of("{}", &K8sType::namespaced("example.dev/v1", "Echo", "echoes")));
    }
}
