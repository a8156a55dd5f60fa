//! Reads a CRD, and removes old versions from its `status.storedVersions`.

use http::Method;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::todo::{Changed, Rewrite};
use crate::{
    cluster::{Cluster, api::ApiRequest},
    object::{K8sType, ObjectKey},
    reply::{ApiError, ErrorClass},
};

/// What became of the old versions.
#[derive(Debug)]
pub(crate) enum Removed {
    Yes,
    /// They stay.
    Changed(Changed),
}

impl Cluster {
    /// Reads a CRD; `None` if it is not installed.
    pub(crate) async fn read_crd(
        &self,
        name: &str,
    ) -> Result<Option<CustomResourceDefinition>, ApiError> {
        let (ty, key) = (crd_type(), ObjectKey::cluster(name));
        let Some(read) = self.read_whole(&ty, &key).await? else { return Ok(None) };
        let malformed =
            |error| ApiError::malformed(format!("get {}", ty.object_path(&key)), &error);
        serde_json::from_value(read).map(Some).map_err(malformed)
    }

    /// Removes the old versions after all objects were written, unless the CRD was changed meanwhile.
    pub(crate) async fn remove_old_versions(&self, todo: &Rewrite) -> Result<Removed, ApiError> {
        let mut version = todo.resource_version.clone();
        loop {
            match self.patch_stored(todo, &version).await {
                Ok(()) => return Ok(Removed::Yes),
                Err(error) if error.class() == ErrorClass::Conflict => {}
                Err(error) => return Err(error),
            }
            match todo.still_holds(self.read_crd(&todo.name).await?.as_ref()) {
                Ok(now) => version = now,
                Err(changed) => return Ok(Removed::Changed(changed)),
            }
        }
    }

    async fn patch_stored(&self, todo: &Rewrite, version: &str) -> Result<(), ApiError> {
        let ty = crd_type();
        let path = format!("{}/status", ty.object_path(&ObjectKey::cluster(&todo.name)));
        let mut request = ApiRequest::get("patch", &ty, path);
        request.method = Method::PATCH;
        request.content_type = "application/merge-patch+json";
        request.body = todo.patch(version).to_string().into_bytes();
        self.send(request).await.map(drop)
    }
}

pub(crate) fn crd_type() -> K8sType {
    let (version, plural) = ("apiextensions.k8s.io/v1", "customresourcedefinitions");
    K8sType::cluster_scoped(version, "CustomResourceDefinition", plural)
}
