//! What a type's status may hold, as the server publishes it in `OpenAPI` v3.
//!
//! The document needs no permission beyond that of any authenticated user, other than the CRD.

use serde::Deserialize;
use serde_json::Value;

use super::{ApiError, Cluster, api::ApiRequest};
use crate::{object::K8sType, plan::StatusSchema};

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    paths: serde_json::Map<String, Value>,
    #[serde(default)]
    components: Components,
}

#[derive(Deserialize, Default)]
struct Components {
    #[serde(default)]
    schemas: serde_json::Map<String, Value>,
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
        let document: Document = serde_json::from_slice(&answer)
            .map_err(|error| ApiError::Malformed { request: name, why: error.to_string() })?;
        Ok(read(&document, ty))
    }
}

fn read(document: &Document, ty: &K8sType) -> Option<StatusSchema> {
    let schema = document.components.schemas.values().find(|schema| is_of(schema, ty))?;
    let ending = format!("/{}/{{name}}/status", ty.plural());
    let has_subresource = document.paths.keys().any(|path| path.ends_with(&ending));
    let status = schema.pointer("/properties/status");
    Some(match status {
        // A built-in type refers to its status instead of spelling it out.
        Some(status) if status.get("properties").is_none() && is_reference(status) => {
            StatusSchema::unknown()
        }
        _ => StatusSchema::from_open_api(status, has_subresource),
    })
}

fn is_reference(status: &Value) -> bool {
    status.get("$ref").is_some() || status.get("allOf").is_some()
}

fn is_of(schema: &Value, ty: &K8sType) -> bool {
    let kinds = schema.get("x-kubernetes-group-version-kind").and_then(Value::as_array);
    kinds.into_iter().flatten().any(|kind| {
        kind["group"] == ty.group() && kind["version"] == ty.version() && kind["kind"] == ty.kind()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_type_is_found_by_its_group_version_and_kind() {
        let kinds = json!([{"group": "example.dev", "version": "v1", "kind": "Echo"}]);
        let schema = json!({"x-kubernetes-group-version-kind": kinds});
        assert!(is_of(&schema, &K8sType::namespaced("example.dev/v1", "Echo", "echoes")));
        assert!(!is_of(&schema, &K8sType::namespaced("example.dev/v2", "Echo", "echoes")));
        assert!(!is_of(&json!({}), &K8sType::namespaced("example.dev/v1", "Echo", "echoes")));
    }
}
