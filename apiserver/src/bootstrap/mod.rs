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
//! again when they are missing, as the real server does. The services also follow each definition that is published.
//! Not here: namespaces and priority classes (see `initial`).

mod flow;
mod object;
mod range;
mod services;

use crate::{cluster::Cluster, group_resource::GroupResource};

/// Creates what every cluster has of a type.
pub(crate) fn complete(cluster: &Cluster, of: &GroupResource) {
    match (of.group.as_str(), of.plural.as_str()) {
        ("flowcontrol.apiserver.k8s.io", _) => flow::complete(cluster),
        ("apiregistration.k8s.io", "apiservices") => services::complete(cluster),
        ("networking.k8s.io", "servicecidrs") => range::complete(cluster),
        _ => {}
    }
}

/// Follows a change of the types that are served. The caller holds `cluster.publishing`.
pub(crate) fn follow_types(cluster: &Cluster) {
    services::follow(cluster);
}
