//! Counts what is used, when a quota or something of its namespace has changed.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{
    amounts::{self, Amounts},
    matching, usage,
};
use crate::{
    builtin::Quantity,
    cluster::Cluster,
    log::{Event, Object, ObjectKey, Revision, Scope},
    resource::{GroupResource, Resource},
    write::{self, Change, Subresource, WriteOptions},
};

/// The namespaces to count in, and whether less may have become used. What is charged is stored a moment
/// later: a new object never makes the count lower.
#[derive(Debug, Default)]
pub(crate) struct Work(BTreeMap<Arc<str>, bool>);

impl Work {
    /// Notes a revision.
    pub(crate) fn note(&mut self, resource: &GroupResource, revision: &Revision) {
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
    pub(crate) fn perform(&self, cluster: &Cluster) {
        let resources = cluster.registry.snapshot();
        let Some(quotas) = resources.by_kind("", "ResourceQuota") else { return };
        for (namespace, may_shrink) in &self.0 {
            let scope = Scope::Namespace(Arc::clone(namespace));
            if cluster.log.is_empty(&quotas.storage, &scope) {
                continue;
            }
            for (key, _) in cluster.log.entries(&quotas.storage, &scope).1 {
                tell(cluster, quotas, &key, *may_shrink);
            }
        }
    }
}

/// Writes the status of a quota, where it differs.
fn tell(cluster: &Cluster, quotas: &Resource, key: &ObjectKey, may_shrink: bool) {
    let mut change = |live: &Value| {
        let mut next = live.clone();
        let hard = amounts::of(&live["spec"]["hard"]);
        let mut used = counted(cluster, live, &hard, &key.namespace);
        if !may_shrink {
            let known = amounts::masked(&amounts::of(&live["status"]["used"]), &hard);
            amounts::raise(&mut used, &known);
        }
        next["status"]["hard"] = live["spec"]["hard"].clone();
        next["status"]["used"] = amounts::json(&used);
        Ok(Change { next, managed: write::Applied::No })
    };
    let options =
        WriteOptions { manager: "kube-controller-manager".to_owned(), ..Default::default() };
    // It may be deleted already.
    let _ = write::update(cluster, quotas, key, Subresource::Status, &options, &mut change);
}

fn counted(cluster: &Cluster, quota: &Value, hard: &Amounts, namespace: &Arc<str>) -> Amounts {
    let resources = cluster.registry.snapshot();
    let mut sum: Amounts = hard.keys().map(|name| (name.clone(), Quantity::whole(0))).collect();
    let is_counted = |resource: &&Arc<Resource>| {
        let id: &GroupResource = &resource.id;
        resource.namespaced
            && resource.is_stored_form()
            && hard.keys().any(|name| usage::counts(id, name))
    };
    for resource in resources.iter().filter(is_counted) {
        let scope = Scope::Namespace(Arc::clone(namespace));
        for (_, object) in cluster.log.entries(&resource.storage, &scope).1 {
            let object = object.value();
            if matching::matches(quota, hard, &resource.id, &object) {
                let used = amounts::masked(&usage::of(&resource.id, &object), hard);
                amounts::add(&mut sum, &used);
            }
        }
    }
    sum
}
