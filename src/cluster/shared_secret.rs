//! Reads and writes one Secret that several processes share, and notices when an object has changed.

use std::time::Duration;

use futures::{AsyncBufReadExt, AsyncReadExt, StreamExt, TryStreamExt};
use http::Method;
use http_body_util::BodyExt;
use serde_json::Value;

use super::{
    Cluster,
    api::{ApiRequest, unreachable},
    webhooks::MANAGER,
    write::patch,
};
use crate::{
    object::{K8sType, ObjectKey},
    reply::ApiError,
};

/// How much of a watch is read at most: objects have at most 3 MiB, and the second event ends it.
const MAX_EVENTS: u64 = 16 << 20;

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

    /// Returns when an object has another version than this one, `None` where it did not exist, or when some time has
    /// passed. It is a watch of that object alone.
    pub(crate) async fn until_changed(
        &self,
        ty: &K8sType,
        key: &ObjectKey,
        (version, within): (Option<&str>, Duration),
    ) -> Result<(), ApiError> {
        // Begins with the object as it is now: a watch from its version would be refused when that is old.
        let request = ApiRequest::get("watch", ty, ty.collection_path(key.namespace.as_deref()))
            .with_query("watch", "1")
            .with_query("fieldSelector", format!("metadata.name={}", key.name))
            .with_query("resourceVersion", "0")
            .with_query("timeoutSeconds", within.as_secs().max(1).to_string());
        let name = request.name();
        let body = self.open(request).await?.into_body();
        let stream = body.into_data_stream().map_err(std::io::Error::other);
        let mut events = Box::pin(stream).into_async_read().take(MAX_EVENTS).lines();
        while let Some(event) = events.next().await {
            let event = event.map_err(|error| unreachable(&name, error))?;
            let event: Value = serde_json::from_str(&event)
                .map_err(|error| ApiError::malformed(name.clone(), &error))?;
            let live = event["object"]["metadata"]["resourceVersion"].as_str();
            match event["type"].as_str() {
                Some("ADDED" | "MODIFIED") if live == version => {}
                Some("ADDED" | "MODIFIED" | "DELETED") => return Ok(()),
                _ => return Err(unreachable(&name, "the watch was refused")),
            }
        }
        Ok(())
    }
}

pub(crate) fn secret_type() -> K8sType {
    K8sType::namespaced("v1", "Secret", "secrets")
}
