//! The controller of requests for certificates: it takes the step that is due for each of them.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    certificates::Step,
    cluster::Cluster,
    group_resource::GroupResource,
    log::{Event, ObjectKey, Revision},
    resource::Resource,
    write::{self, Applied, Change, WriteOptions},
};

const MANAGER: &str = "kube-controller-manager";

/// The requests to look at.
#[derive(Debug, Default)]
pub(super) struct Work(BTreeSet<ObjectKey>);

impl Work {
    /// Notes a request that may be due.
    pub(super) fn note(&mut self, resource: &GroupResource, revision: &Revision) {
        let is_request = resource.group == "certificates.k8s.io"
            && resource.plural == "certificatesigningrequests";
        if is_request && revision.event != Event::Deleted {
            self.0.insert(revision.key.clone());
        }
    }

    /// Takes the step that is due for each request.
    pub(super) fn perform(self, cluster: &Cluster) {
        let id = GroupResource::new("certificates.k8s.io", "certificatesigningrequests");
        let resources = cluster.registry.snapshot();
        let Some(resource) = resources.stored(&id) else { return };
        for key in self.0 {
            let Some((_, request)) = cluster.read(resource, &key) else { continue };
            if let Some(step) = Step::due(&request) {
                take(cluster, resource, &key, &step);
            }
        }
    }
}

fn take(cluster: &Cluster, resource: &Resource, key: &ObjectKey, due: &Step) {
    let options = WriteOptions { manager: MANAGER.to_owned(), ..WriteOptions::default() };
    let mut change = |live: &Value| {
        let mut next = live.clone();
        // It may have been decided otherwise meanwhile.
        if Step::due(live).as_ref() == Some(due) {
            due.apply(cluster, &mut next);
        }
        Ok(Change { next, managed: Applied::No })
    };
    // It may be deleted already.
    let _ = write::update(cluster, resource, key, due.subresource(), &options, &mut change);
}
