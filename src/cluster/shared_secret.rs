//! Reads and writes one Secret that several processes share.

use http::Method;
use serde_json::Value;

use super::{Cluster, api::ApiRequest, webhooks::MANAGER};
use crate::{
    object::{K8sType, Object, ObjectKey},
    plan::ChildId,
    reply::ApiError,
    run::{DryRun, Force},
};

impl Cluster {
    /// Reads a Secret; `None` if it does not exist.
    pub(crate) async fn read_secret(&self, key: &ObjectKey) -> Result<Option<Value>, ApiError> {
        self.read_whole(&secret_type(), key).await
    }

    /// Creates a Secret, or replaces exactly the version that it names.
    pub(crate) async fn write_secret(
        &self,
        key: &ObjectKey,
        secret: &Value,
    ) -> Result<(), ApiError> {
        let ty = secret_type();
        let (verb, method, path) = match secret["metadata"]["resourceVersion"].as_str() {
            Some(_) => ("update", Method::PUT, ty.object_path(key)),
            None => ("create", Method::POST, ty.collection_path(key.namespace.as_deref())),
        };
        let mut request = ApiRequest::get(verb, &ty, path).with_query("fieldManager", MANAGER);
        request.method = method;
        request.body = secret.to_string().into_bytes();
        self.send(request).await.map(drop)
    }

    /// Applies the `caBundle` of an object that exists.
    pub(crate) async fn apply_ca_bundle(
        &self,
        ty: &K8sType,
        name: &str,
        patch: &Value,
    ) -> Result<Object, ApiError> {
        let object = ChildId { ty: ty.clone(), key: ObjectKey::cluster(name) };
        self.apply(&object, MANAGER, patch, (Force::Yes, DryRun::No)).await
    }
}

pub(crate) fn secret_type() -> K8sType {
    K8sType::namespaced("v1", "Secret", "secrets")
}
