//! What every namespace has: the `ServiceAccount` `default`, and the `ConfigMap` `kube-root-ca.crt` with the certificate
//! of the server's authority. Deleted ones come again, and a changed `ConfigMap` is restored.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, json};

use crate::{
    cluster::Cluster,
    group_resource::GroupResource,
    log::{Event, ObjectKey, Revision, Scope},
    resource::Subresource,
    write::{self, Applied, Change, Complaints, WriteOptions},
};

const ACCOUNT: &str = "default";
const AUTHORITY: &str = "kube-root-ca.crt";
/// The text that kube-controller-manager gives it.
const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal \
                           endpoints such as the internal service IP or kubernetes.default.svc. No other usage is \
                           guaranteed across distributions of Kubernetes clusters.";

/// The namespaces to check.
#[derive(Debug, Default)]
pub(super) struct Work {
    namespaces: BTreeSet<Arc<str>>,
}

impl Work {
    /// Notes where something may be missing.
    pub(super) fn note(&mut self, resource: &GroupResource, revision: &Revision) {
        if !resource.group.is_empty() {
            return;
        }
        let key = &revision.key;
        let is_gone = revision.event == Event::Deleted;
        match (resource.plural.as_str(), &*key.name) {
            ("namespaces", name) if !is_gone => self.namespaces.insert(name.into()),
            ("serviceaccounts", ACCOUNT) if is_gone => {
                self.namespaces.insert(key.namespace.clone())
            }
            ("configmaps", AUTHORITY) => self.namespaces.insert(key.namespace.clone()),
            _ => false,
        };
    }

    /// Makes what is missing.
    pub(super) fn perform(self, cluster: &Cluster) {
        for namespace in &self.namespaces {
            complete(cluster, namespace);
        }
    }
}

/// Makes what is missing in any namespace.
pub(crate) fn complete_all(cluster: &Cluster) {
    for (key, _) in cluster.log.entries(&core("namespaces"), &Scope::All).1 {
        complete(cluster, &key.name);
    }
}

fn complete(cluster: &Cluster, namespace: &str) {
    let found = cluster.log.get(&core("namespaces"), &ObjectKey::new("", namespace));
    if found.is_none_or(|found| found.meta.deleting) {
        return;
    }
    create(cluster, "ServiceAccount", namespace, json!({ "metadata": { "name": ACCOUNT } }));
    // Without credentials nobody can connect who needs the certificate.
    let Ok(credentials) = cluster.keychain.credentials() else { return };
    let data = json!({ "ca.crt": credentials.authority });
    let annotations = json!({ "kubernetes.io/description": DESCRIPTION });
    let metadata = json!({ "name": AUTHORITY, "annotations": annotations });
    let object = json!({ "metadata": metadata, "data": data });
    if !create(cluster, "ConfigMap", namespace, object) {
        restore(cluster, namespace, &data);
    }
}

/// Creates an object; says whether there was none.
fn create(cluster: &Cluster, kind: &str, namespace: &str, mut object: Value) -> bool {
    let resources = cluster.registry.snapshot();
    let Some(resource) = resources.by_kind("", kind) else { return true };
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    if cluster.log.get(&resource.storage, &ObjectKey::new(namespace, name)).is_some() {
        return false;
    }
    (object["apiVersion"], object["kind"]) = (json!("v1"), json!(kind));
    object["metadata"]["namespace"] = json!(namespace);
    let options = options();
    let decoded = write::decode(resource, &mut object, options.validation, Complaints::default());
    if decoded.is_ok() {
        // Another may have created it meanwhile.
        let _ = write::create(cluster, resource, namespace, object, Applied::No, &options);
    }
    true
}

/// Gives the `ConfigMap` the contents that it should have.
fn restore(cluster: &Cluster, namespace: &str, data: &Value) {
    let resources = cluster.registry.snapshot();
    let Some(resource) = resources.by_kind("", "ConfigMap") else { return };
    let key = ObjectKey::new(namespace, AUTHORITY);
    let is_right =
        cluster.log.get(&resource.storage, &key).is_none_or(|found| found.value()["data"] == *data);
    if is_right {
        return;
    }
    let mut change = |live: &Value| {
        let mut next = live.clone();
        next["data"] = data.clone();
        Ok(Change { next, managed: Applied::No })
    };
    // It may be deleted already.
    let _ = write::update(cluster, resource, &key, Subresource::Main, &options(), &mut change);
}

fn options() -> WriteOptions {
    WriteOptions { manager: "kube-controller-manager".to_owned(), ..WriteOptions::default() }
}

fn core(plural: &str) -> GroupResource {
    GroupResource::new("", plural)
}
