//! Namespaces: the initial ones, and their deletion.
//!
//! The contents of a terminating namespace are deleted, pods first, and then the namespace.

use serde_json::{Value, json};

use crate::{
    cluster::Cluster,
    log::{ObjectKey, Scope},
    resource::Resource,
    write::{self, Change, DeleteOptions, Propagation, Subresource, WriteOptions},
};

/// The namespaces of a new cluster.
pub(crate) const INITIAL: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Continues the deletion of a namespace: deletes its contents, or the namespace if it is empty.
pub(crate) fn terminate(cluster: &Cluster, name: &str) {
    let resources = cluster.registry.snapshot();
    let Some(namespaces) = resources.by_kind("", "Namespace") else { return };
    let key = ObjectKey::new("", name);
    let gone = match cluster.log.get(&namespaces.id, &key) {
        Some(namespace) if !namespace.meta.deleting => return,
        Some(_) => false,
        None => true,
    };
    if empty(cluster, name) && !gone {
        give_up(cluster, namespaces, &key);
    }
}

/// Deletes the contents of a namespace; returns whether nothing is left.
fn empty(cluster: &Cluster, name: &str) -> bool {
    let resources = cluster.registry.snapshot();
    let is_pods = |r: &Resource| r.id.group.is_empty() && r.id.plural == "pods";
    let served = |pods: bool| {
        resources.iter().filter(move |r| r.namespaced && is_pods(r) == pods && r.is_stored_form())
    };
    served(true).all(|r| empty_of(cluster, r, name))
        && served(false).filter(|r| !empty_of(cluster, r, name)).count() == 0
}

fn empty_of(cluster: &Cluster, resource: &Resource, namespace: &str) -> bool {
    let scope = Scope::Namespace(namespace.into());
    let options =
        DeleteOptions { propagation: Some(Propagation::Background), ..DeleteOptions::default() };
    let (_, entries) = cluster.log.entries(&resource.storage, &scope);
    for (key, object) in entries {
        if !object.meta.deleting {
            // It was deleted concurrently.
            let _ = write::delete(cluster, resource, &key, &options);
        }
    }
    cluster.log.is_empty(&resource.storage, &scope)
}

fn give_up(cluster: &Cluster, namespaces: &Resource, key: &ObjectKey) {
    let mut change = |live: &Value| {
        let mut next = live.clone();
        next["spec"]["finalizers"] = json!([]);
        Ok(Change { next, managed: write::Applied::Yes })
    };
    let options = WriteOptions::default();
    // It may be deleted already.
    let _ = write::update(cluster, namespaces, key, Subresource::Finalize, &options, &mut change);
}
