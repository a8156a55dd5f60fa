//! Reads the objects that a decision is about.

use std::sync::Arc;

use serde_json::Value;

use super::{
    item::Kind,
    object::{items, text, uid},
};
use crate::{
    cluster::Cluster,
    log::{Object, ObjectKey, Scope},
};

/// An object, if it exists.
pub(super) fn read(cluster: &Cluster, kind: Kind, key: &ObjectKey) -> Option<Value> {
    let resources = cluster.registry.snapshot();
    let resource = resources.stored(&kind.resource())?;
    cluster.read(resource, key).map(|(_, value)| value)
}

/// The objects of a type in a namespace that pass a test on their metadata.
pub(super) fn list(
    cluster: &Cluster,
    kind: Kind,
    namespace: &str,
    test: &dyn Fn(&Object) -> bool,
) -> Vec<Value> {
    let resources = cluster.registry.snapshot();
    let Some(resource) = resources.stored(&kind.resource()) else { return Vec::new() };
    let (_, entries) = cluster.log.entries(&resource.storage, &scope(namespace));
    let entries = entries.iter().filter(|(_, object)| test(object));
    entries.map(|(_, object): &(_, Arc<Object>)| resource.decode(object)).collect()
}

/// The objects of a type that a workload controls or could adopt.
pub(super) fn candidates(cluster: &Cluster, owner: &Value, kind: Kind) -> Vec<Value> {
    let (namespace, owner) = (text(&owner["metadata"]["namespace"]), uid(owner));
    list(cluster, kind, namespace, &|object| {
        let owners = &object.meta.owners;
        owners.is_empty() || owners.iter().any(|reference| *reference.uid == *owner)
    })
}

/// The objects of a type that name one of these as their owner.
pub(super) fn dependents(
    cluster: &Cluster,
    owners: &[Value],
    namespace: &str,
    kind: Kind,
) -> Vec<Value> {
    list(cluster, kind, namespace, &|object| {
        let mut references = object.meta.owners.iter();
        references.any(|reference| owners.iter().any(|owner| *reference.uid == *uid(owner)))
    })
}

/// The names of the claims that a Pod uses.
pub(super) fn claims(pod: &Value) -> impl Iterator<Item = String> {
    items(&pod["spec"]["volumes"]).filter_map(|volume| {
        if volume.get("ephemeral").is_some() {
            let (pod, volume) = (pod["metadata"]["name"].as_str()?, volume["name"].as_str()?);
            return Some(format!("{pod}-{volume}"));
        }
        volume["persistentVolumeClaim"]["claimName"].as_str().map(str::to_owned)
    })
}

/// The names of the objects of a type in a namespace.
pub(super) fn names(cluster: &Cluster, kind: Kind, namespace: &str) -> Vec<String> {
    let (_, entries) = cluster.log.entries(&kind.resource(), &scope(namespace));
    entries.into_iter().map(|(key, _)| key.name.to_string()).collect()
}

/// A namespace, or everything.
fn scope(namespace: &str) -> Scope {
    if namespace.is_empty() { Scope::All } else { Scope::Namespace(namespace.into()) }
}
