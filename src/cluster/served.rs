//! Whether the API server serves a type, by its discovery documents.

use serde_json::Value;

use super::{Cluster, api::ApiRequest};
use crate::{
    object::K8sType,
    reply::{ApiError, ErrorClass},
};

impl Cluster {
    /// Whether the server serves the type now, in this version.
    pub(crate) async fn serves(&self, ty: &K8sType) -> Result<bool, ApiError> {
        let root = if ty.group().is_empty() { "api" } else { "apis" };
        let request = ApiRequest::get("get", ty, format!("/{root}/{}", ty.api_version()));
        let name = request.name();
        let answer = match self.send(request).await {
            Ok(answer) => answer,
            Err(error) if matches!(error.class(), ErrorClass::Missing | ErrorClass::NotServed) => {
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        let document: Value =
            serde_json::from_slice(&answer).map_err(|error| ApiError::malformed(name, &error))?;
        let resources = document["resources"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(resources.iter().any(|resource| resource["name"] == *ty.plural()))
    }
}
