//! Reads and writes the Lease of an election.

use std::time::Duration;

use http::Method;

use super::{Cluster, WatchSpec, api::ApiRequest};
use crate::{
    election::Lease,
    object::{K8sType, ObjectKey},
    reply::ApiError,
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
