//! Finds the types of children of which some lack the label of their bucket: they were made before the process shared its
//! parents out.

use std::{collections::BTreeSet, time::Duration};

use crate::{
    cluster::{Cluster, WatchSpec},
    object::{K8sType, OneLine},
    reply::ErrorClass,
};

/// How often it is looked whether all children have the label now.
pub(super) const CHECKED_EVERY: Duration = Duration::from_mins(1);

/// The types of these watches that show an object. A type that cannot be read for now is one of them, because its children may
/// lack the label.
pub(super) async fn unlabelled(cluster: Cluster, watches: Vec<WatchSpec>) -> BTreeSet<K8sType> {
    let look = async |spec: WatchSpec| match cluster.has_any(&spec).await {
        Ok(has_any) => has_any.then_some(spec.ty),
        // It is not watched either.
        Err(error) if matches!(error.class(), ErrorClass::Forbidden | ErrorClass::NotServed) => {
            None
        }
        Err(error) => {
            let (ty, error) = (spec.ty.resource_name(), OneLine(&error));
            tracing::warn!(ty, %error, "whether children have the label of their bucket is not known");
            Some(spec.ty)
        }
    };
    let found = futures::future::join_all(watches.into_iter().map(look)).await;
    found.into_iter().flatten().collect()
}
