//! The start of a process that shares its parents out: its first buckets, and the types of children of which some lack the label
//! of their bucket, because they were made before.

use std::{collections::BTreeSet, time::Duration};

use tokio::{sync::watch, time::timeout};

use crate::{
    cluster::{Cluster, WatchSpec},
    election::Buckets,
    object::{K8sType, OneLine},
    reply::ErrorClass,
};

/// How long the operators wait for their first buckets: without them they would watch nothing, and then list everything again.
const FIRST_BUCKETS: Duration = Duration::from_secs(5);

/// How often it is looked whether all children have the label now.
pub(super) const CHECKED_EVERY: Duration = Duration::from_mins(1);

/// Waits for the first buckets. Returns the types of these watches of which some children lack the label.
pub(super) async fn begun(
    cluster: Cluster,
    watches: Vec<WatchSpec>,
    mut buckets: watch::Receiver<Buckets>,
) -> anyhow::Result<BTreeSet<K8sType>> {
    let first = async { buckets.wait_for(|buckets| *buckets != Buckets::NONE).await.is_ok() };
    // The process may be cut off.
    let first = timeout(FIRST_BUCKETS, first);
    let (unlabelled, _) = futures::future::join(unlabelled(cluster, watches), first).await;
    Ok(unlabelled)
}

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
