//! What a type's status may hold and which of its fields are secret, as the server publishes it in
//! `OpenAPI` v3.
//!
//! The document needs no permission beyond that of any authenticated user, other than the CRD.

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

/// A document may describe hundreds of types: as a tree it would take megabytes.
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

/// A schema as far as it says whose it is.
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

/// What a document says of each of the types; `None` where it does not know one.
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
        // Whatever it says of it: most refer to it instead of spelling it out.
        _ if ty.is_builtin() && has_subresource => StatusSchema::unknown(),
        Some(status) if status.get("properties").is_none() && is_reference(status) => {
            StatusSchema::unknown()
        }
        // It says nothing of a status, and keeps what it says nothing of.
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
