//! Reads and writes the Lease of an election.

use std::time::Duration;

use http::Method;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json};

use super::{Cluster, WatchSpec, api::ApiRequest};
use crate::{
    election::{Lease, SHARD_GROUP_LABEL},
    object::{K8sType, ObjectKey, OneLine, ResourceVersion},
    reply::{ApiError, ErrorClass},
};

impl Cluster {
    /// Reads a Lease; `None` if it does not exist.
    pub(crate) async fn read_lease(&self, key: &ObjectKey) -> Result<Option<Lease>, ApiError> {
        Ok(self.read_whole(&lease_type(), key).await?.map(Lease::of))
    }

    /// Creates a Lease, or replaces exactly the version that it names. Ends after `patience`, so that a leader has
    /// time for another try.
    pub(crate) async fn write_lease(
        &self,
        key: &ObjectKey,
        lease: &Lease,
        patience: Duration,
    ) -> Result<Lease, ApiError> {
        let ty = lease_type();
        let request = write_request(&ty, key, lease);
        let name = request.name();
        let sending = tokio::time::timeout(patience, self.send(request)).await;
        let timed_out = |_| ApiError::TimedOut { request: name.clone(), after: patience };
        let answer = sending.map_err(timed_out)??;
        let malformed = |error| ApiError::malformed(name.clone(), &error);
        serde_json::from_slice(&answer).map(Lease::of).map_err(malformed)
    }

    /// Writes a Lease without a holder. Where that fails it expires.
    pub(crate) async fn give_back_lease(&self, key: &ObjectKey, lease: &Lease, patience: Duration) {
        if let Err(error) = self.write_lease(key, lease, patience).await {
            let error = OneLine(&error);
            tracing::warn!(lease = %key, %error, "the Lease was not given back: it expires");
        }
    }

    /// The Leases of a group, as the server has them now.
    pub(crate) async fn list_leases(
        &self,
        namespace: &str,
        group: &str,
    ) -> Result<Leases, ApiError> {
        let ty = lease_type();
        let request = ApiRequest::get("list", &ty, ty.collection_path(Some(namespace)));
        let request = request.with_query("labelSelector", selector(group));
        let request = request.with_query("shardSelector", EVERYTHING);
        let name = request.name();
        let answer = self.send(request).await?;
        let malformed = |error| ApiError::malformed(name.clone(), &error);
        let list: ListOfLeases = serde_json::from_slice(&answer).map_err(malformed)?;
        let named = list.items.into_iter().filter_map(|lease| {
            Some((lease["metadata"]["name"].as_str()?.to_owned(), Lease::of(lease)))
        });
        let selects_shards = list.metadata.shard_info.is_some();
        let version = ResourceVersion::new(&list.metadata.resource_version);
        Ok(Leases { by_name: named.collect(), version, selects_shards })
    }

    /// Deletes exactly this version of a Lease.
    pub(crate) async fn delete_lease(
        &self,
        key: &ObjectKey,
        lease: &Lease,
    ) -> Result<(), ApiError> {
        let metadata = &lease.body()["metadata"];
        let (uid, version) = (&metadata["uid"], &metadata["resourceVersion"]);
        let ty = lease_type();
        let mut request = ApiRequest::get("delete", &ty, ty.object_path(key));
        request.method = Method::DELETE;
        let preconditions = json!({"uid": uid, "resourceVersion": version});
        request.body = json!({"preconditions": preconditions}).to_string().into_bytes();
        self.send(request).await.map(drop)
    }

    /// The watch of the Leases of a group.
    pub(crate) fn watch_of_group(namespace: &str, group: &str) -> WatchSpec {
        WatchSpec {
            namespace: Some(namespace.to_owned()),
            label_selector: Some(selector(group)),
            ..WatchSpec::of(lease_type())
        }
    }

    /// The watch of a single Lease.
    pub(crate) fn watch_of_lease(key: &ObjectKey) -> WatchSpec {
        WatchSpec {
            namespace: key.namespace.as_deref().map(str::to_owned),
            name: Some(key.name.to_string()),
            ..WatchSpec::of(lease_type())
        }
    }

    /// The namespace that the client is for.
    pub(crate) fn own_namespace(&self) -> &str {
        self.client().default_namespace()
    }
}

/// The Leases of a group.
pub(crate) struct Leases {
    pub(crate) by_name: Vec<(String, Lease)>,
    pub(crate) version: ResourceVersion,
    /// Whether the server knows `shardSelector`. It says so in lists of built-in types alone: of custom resources it selects a
    /// shard without saying so.
    pub(crate) selects_shards: bool,
}

/// The shard of all objects. A server that does not know `shardSelector` ignores it.
const EVERYTHING: &str =
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x10000000000000000')";

#[derive(Deserialize)]
struct ListOfLeases {
    metadata: ListMetadata,
    #[serde(default)]
    items: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListMetadata {
    resource_version: String,
    #[serde(default)]
    shard_info: Option<IgnoredAny>,
}

fn selector(group: &str) -> String {
    format!("{SHARD_GROUP_LABEL}={group}")
}

/// Whether another process wrote the Lease first, or it is gone. Where one cannot be created, the namespace is missing.
pub(crate) fn is_outrun(error: &ApiError, existed: bool) -> bool {
    match error.class() {
        ErrorClass::Conflict => true,
        ErrorClass::Missing => existed,
        _ => false,
    }
}

pub(crate) fn lease_type() -> K8sType {
    K8sType::namespaced("coordination.k8s.io/v1", "Lease", "leases")
}

fn write_request<'a>(ty: &'a K8sType, key: &ObjectKey, lease: &Lease) -> ApiRequest<'a> {
    let (verb, method, path) = if lease.exists() {
        ("update", Method::PUT, ty.object_path(key))
    } else {
        ("create", Method::POST, ty.collection_path(key.namespace.as_deref()))
    };
    let mut request = ApiRequest::get(verb, ty, path);
    request.method = method;
    request.body = lease.body().to_string().into_bytes();
    request
}
