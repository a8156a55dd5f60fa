//! Which objects have to be decided about after a change.

use std::sync::Arc;

use super::{
    item::{Item, Kind},
    node::NODE,
    observe, ownership,
};
use crate::{
    cluster::Cluster,
    log::{Committed, Event, Meta, Object, ObjectKey, Scope},
};

/// The workloads that control Pods.
const WORKLOADS: [Kind; 4] = [Kind::ReplicaSet, Kind::StatefulSet, Kind::DaemonSet, Kind::Job];

/// The objects that a change may concern.
pub(super) fn affected(cluster: &Cluster, committed: &Committed) -> Vec<Item> {
    let Committed { resource, revision } = committed;
    let Some(kind) = Kind::of(resource) else { return Vec::new() };
    let (key, object) = (&revision.key, &revision.object);
    let namespace = || Scope::Namespace(Arc::clone(&key.namespace));
    let mut affected = vec![Item { kind, key: key.clone() }];
    let states = revision.previous.iter().chain([object]);
    for meta in states.map(|object| &object.meta) {
        affected.extend(owners(meta, key));
    }
    let is_free = object.meta.owners.is_empty() && revision.event != Event::Deleted;
    match kind {
        Kind::Node => {
            affected.extend(all(cluster, Kind::Pod, &Scope::All));
            affected.extend(all(cluster, Kind::DaemonSet, &Scope::All));
        }
        Kind::Pod => {
            affected.extend(all(cluster, Kind::Service, &namespace()));
            if is_free {
                affected.extend(adopters(cluster, object, &namespace(), &WORKLOADS));
            }
        }
        Kind::ReplicaSet if is_free => {
            affected.extend(adopters(cluster, object, &namespace(), &[Kind::Deployment]));
        }
        Kind::Claim => affected.extend(users(cluster, key)),
        Kind::Volume | Kind::Class => affected.extend(all(cluster, Kind::Claim, &Scope::All)),
        Kind::Slice | Kind::Endpoints => affected.extend(all(cluster, Kind::Service, &namespace())),
        Kind::Job if revision.event == Event::Deleted => {
            affected.extend(all(cluster, Kind::Pod, &namespace()));
        }
        _ => {}
    }
    if kind == Kind::Claim {
        let volume = object.value()["spec"]["volumeName"].as_str().map(ToOwned::to_owned);
        affected.extend(volume.map(|volume| Item::new(Kind::Volume, &"".into(), &volume)));
    }
    affected
}

/// What is made at the start: the node, and a class of volumes.
pub(super) fn first() -> [Item; 2] {
    [Item::new(Kind::Node, &"".into(), NODE), Item::new(Kind::Class, &"".into(), "")]
}

fn owners(meta: &Meta, key: &ObjectKey) -> impl Iterator<Item = Item> {
    meta.owners.iter().filter_map(|owner| {
        let kind = Kind::named(&owner.api_version, &owner.kind)?;
        Some(Item::new(kind, &key.namespace, &owner.name))
    })
}

/// The workloads that select an object without an owner.
fn adopters(cluster: &Cluster, object: &Object, scope: &Scope, kinds: &[Kind]) -> Vec<Item> {
    if object.meta.labels.is_empty() {
        return Vec::new();
    }
    let object = object.value();
    let selecting = |kind: Kind| {
        let (_, entries) = cluster.log.entries(&kind.resource(), scope);
        let entries = entries.into_iter();
        let selecting = entries.filter(|(_, it)| ownership::is_selected(&it.value(), &object));
        selecting.map(move |(key, _)| Item { kind, key }).collect::<Vec<_>>()
    };
    kinds.iter().flat_map(|kind| selecting(*kind)).collect()
}

/// The Pods that use a claim.
fn users(cluster: &Cluster, claim: &ObjectKey) -> Vec<Item> {
    let pods = observe::list(cluster, Kind::Pod, &claim.namespace, &|_| true);
    let users = pods.iter().filter(|pod| {
        pod["spec"]["nodeName"].is_null() && observe::claims(pod).any(|name| *name == *claim.name)
    });
    let names = users.filter_map(|pod| pod["metadata"]["name"].as_str());
    names.map(|name| Item::new(Kind::Pod, &claim.namespace, name)).collect()
}

fn all(cluster: &Cluster, kind: Kind, scope: &Scope) -> Vec<Item> {
    let (_, entries) = cluster.log.entries(&kind.resource(), scope);
    entries.into_iter().map(|(key, _)| Item { kind, key }).collect()
}
