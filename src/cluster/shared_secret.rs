//! Reads and writes one Secret that several processes share.

use http::Method;
use serde_json::Value;

use super::{Cluster, api::ApiRequest, webhooks::MANAGER, write::patch};
use crate::{
    object::{K8sType, ObjectKey},
    reply::ApiError,
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

    /// Sets the `caBundle` in exactly the version of an object that the patch names.
    ///
    /// It is no server-side apply: that would also own the entry of the webhook, which would stay without its other
    /// fields when the owner of the configuration removes it, and the API server would refuse the owner.
    pub(crate) async fn set_ca_bundle(
        &self,
        ty: &K8sType,
        name: &str,
        body: &Value,
    ) -> Result<(), ApiError> {
        let path = ty.object_path(&ObjectKey::cluster(name));
        let request = patch(ty, path, "application/strategic-merge-patch+json", body);
        self.send(request.with_query("fieldManager", MANAGER)).await.map(drop)
    }
}

pub(crate) fn secret_type() -> K8sType {
    K8sType::namespaced("v1", "Secret", "secrets")
}
