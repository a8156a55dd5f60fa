//! Objects that the real server creates for itself: flow control, the services of its group versions, the range
//! of service addresses.
//!
//! ```text
//!  request for a type ─> complete ─┬─ flow      priority levels, flow schemas
//!                                  ├─ services  one per group version
//!                                  └─ range     the range of service addresses
//! ```
//!
//! **Invariant**: they are created when their type is first asked for, so that a start does not pay for them, and
//! again when they are missing, as the real server does. Not here: namespaces and priority classes (see `initial`).

mod flow;
mod range;
mod services;

use serde_json::Value;

use crate::{
    cluster::Cluster,
    log::ObjectKey,
    resource::{GroupResource, Resource},
    write::{self, Applied, Complaints, WriteOptions},
};

/// Creates what every cluster has of a type.
pub(crate) fn complete(cluster: &Cluster, of: &GroupResource) {
    match (of.group.as_str(), of.plural.as_str()) {
        ("flowcontrol.apiserver.k8s.io", _) => flow::complete(cluster),
        ("apiregistration.k8s.io", "apiservices") => services::complete(cluster),
        ("networking.k8s.io", "servicecidrs") => range::complete(cluster),
        _ => {}
    }
}

/// Creates an object that does not exist; says whether it did so.
fn create(cluster: &Cluster, resource: &Resource, mut object: Value, manager: &str) -> bool {
    let key = ObjectKey::new("", object["metadata"]["name"].as_str().unwrap_or_default());
    if cluster.log.get(&resource.storage, &key).is_some() {
        return false;
    }
    let options = WriteOptions { manager: manager.to_owned(), ..WriteOptions::default() };
    let decoded = write::decode(resource, &mut object, options.validation, Complaints::default());
    // Another request may have created it meanwhile.
    decoded.is_ok() && write::create(cluster, resource, "", object, Applied::No, &options).is_ok()
}
