//! What a server derives from its objects when it starts with those of an earlier one.
//!
//! Deletions in progress are not continued here: the controllers look at every object after the start.

use crate::{
    cluster::Cluster,
    controllers,
    group_resource::GroupResource,
    log::{Persisted, Scope},
};

/// Fills an empty cluster with what was persisted.
pub(crate) fn load(cluster: &Cluster, persisted: Persisted) {
    cluster.log.recover(persisted);
    // With a given seed the uids of the earlier server would come again.
    cluster.ids.skip(cluster.log.head());
    let services = GroupResource::new("", "services");
    for (_, service) in cluster.log.entries(&services, &Scope::All).1 {
        cluster.addresses.occupy(&service.value());
    }
}

/// Serves the persisted definitions. This may write.
pub(crate) fn serve(cluster: &Cluster) {
    controllers::serve_again(cluster);
}
