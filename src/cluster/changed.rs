//! Notices when one object has changed, for those who look at it now and then.

use std::{future::pending, time::Duration};

use futures::{AsyncBufReadExt, AsyncReadExt, StreamExt, TryStreamExt};
use http_body_util::BodyExt;
use serde_json::Value;

use super::{
    Cluster,
    api::{ApiRequest, unreachable},
};
use crate::{
    object::{K8sType, ObjectKey, OneLine},
    reply::ApiError,
};

/// How much of a watch is read at most: objects have at most 3 MiB, and the second event ends it.
const MAX_EVENTS: u64 = 16 << 20;

impl Cluster {
    /// Returns when an object has changed, and never where that cannot be watched: some servers do not let every program
    /// watch. For the version and the time see [`until_changed`](Self::until_changed).
    pub(crate) async fn change(
        &self,
        ty: &K8sType,
        key: &ObjectKey,
        since: (Option<&str>, Duration),
    ) {
        if let Err(error) = self.until_changed(ty, key, since).await {
            tracing::debug!(%ty, %key, error = %OneLine(&error), "no watch: it is read now and then");
            pending::<()>().await;
        }
    }

    /// Returns when an object has another version than this one, `None` where it did not exist, or when some time has
    /// passed. It is a watch of that object alone.
    async fn until_changed(
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
