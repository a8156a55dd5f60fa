//! The controller of resource quotas: it counts what is used, when a quota or something of its namespace has
//! changed.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use crate::{
    cluster::Cluster,
    group_resource::GroupResource,
    log::{Event, Object, ObjectKey, Revision, Scope},
    quota,
    resource::{Resource, Subresource},
    write::{self, Change, WriteOptions},
};

/// The namespaces to count in, and whether less may have become used. What is charged is stored a moment
/// later: a new object never makes the count lower.
#[derive(Debug, Default)]
pub(super) struct Work(BTreeMap<Arc<str>, bool>);

impl Work {
    /// Notes a revision.
    pub(super) fn note(&mut self, resource: &GroupResource, revision: &Revision) {
        let Revision { event, key, previous, object, version: _ } = revision;
        let is_quota = resource.group.is_empty() && resource.plural == "resourcequotas";
        let spec = |object: &Object| object.value()["spec"].clone();
        let is_status =
            is_quota && previous.as_ref().is_some_and(|previous| spec(previous) == spec(object));
        if key.namespace.is_empty() || (is_status && *event == Event::Modified) {
            return;
        }
        let may_shrink = is_quota || *event != Event::Added;
        *self.0.entry(Arc::clone(&key.namespace)).or_default() |= may_shrink;
    }

    /// Counts.
    pub(super) fn perform(&self, cluster: &Cluster) {
        let resources = cluster.registry.snapshot();
        let Some(quotas) = resources.by_kind("", "ResourceQuota") else { return };
        for (namespace, may_shrink) in &self.0 {
            let scope = Scope::Namespace(Arc::clone(namespace));
            if cluster.log.is_empty(&quotas.storage, &scope) {
                continue;
            }
            for (key, _) in cluster.log.entries(&quotas.storage, &scope).1 {
                write_status(cluster, quotas, &key, *may_shrink);
            }
        }
    }
}

/// Writes the status of a quota, where it differs.
fn write_status(cluster: &Cluster, quotas: &Resource, key: &ObjectKey, may_shrink: bool) {
    let mut change = |live: &Value| {
        let mut next = live.clone();
        let count = if may_shrink { quota::counted } else { quota::counted_at_least };
        next["status"]["hard"] = live["spec"]["hard"].clone();
        next["status"]["used"] = count(cluster, live, &key.namespace);
        Ok(Change { next, managed: write::Applied::No })
    };
    let options =
        WriteOptions { manager: "kube-controller-manager".to_owned(), ..Default::default() };
    // It may be deleted already.
    let _ = write::update(cluster, quotas, key, Subresource::Status, &options, &mut change);
}
