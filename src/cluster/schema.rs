//! What a type's status may hold, as the server publishes it in `OpenAPI` v3.
//!
//! The document needs no permission beyond that of any authenticated user, other than the CRD.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{ApiError, Cluster, api::ApiRequest};
use crate::{object::K8sType, plan::StatusSchema};

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

impl Cluster {
    /// What the status of a type may hold; `None` where the server does not publish it (yet).
    pub async fn status_schema(&self, ty: &K8sType) -> Result<Option<StatusSchema>, ApiError> {
        let root = if ty.group().is_empty() { "api" } else { "apis" };
        let request =
            ApiRequest::get("get", ty, format!("/openapi/v3/{root}/{}", ty.api_version()));
        let name = request.name();
        let answer = match self.send(request).await {
            Ok(answer) => answer,
            Err(error) if error.code() == Some(404) => return Ok(None),
            Err(error) => return Err(error),
        };
        let malformed = |error: serde_json::Error| ApiError::Malformed {
            request: name,
            why: error.to_string(),
        };
        serde_json::from_slice(&answer).and_then(|document| read(&document, ty)).map_err(malformed)
    }
}

fn read(document: &Document<'_>, ty: &K8sType) -> serde_json::Result<Option<StatusSchema>> {
    let mut schemas = document.components.schemas.values();
    let Some(schema) = schemas.find(|schema| is_of(schema.get(), ty)) else { return Ok(None) };
    let schema: Value = serde_json::from_str(schema.get())?;
    let ending = format!("/{}/{{name}}/status", ty.plural());
    let has_subresource = document.paths.keys().any(|path| path.ends_with(&ending));
    Ok(Some(match schema.pointer("/properties/status") {
        // A built-in type refers to its status instead of spelling it out.
        Some(status) if status.get("properties").is_none() && is_reference(status) => {
            StatusSchema::unknown()
        }
        status => StatusSchema::from_open_api(status, has_subresource),
    }))
}

fn is_reference(status: &Value) -> bool {
    status.get("$ref").is_some() || status.get("allOf").is_some()
}

fn is_of(schema: &str, ty: &K8sType) -> bool {
    let kinds = serde_json::from_str(schema).map(|Labelled { kinds }| kinds).unwrap_or_default();
    kinds.iter().any(|GroupVersionKind { group, version, kind }| {
        (group.as_str(), version.as_str(), kind.as_str()) == (ty.group(), ty.version(), ty.kind())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
