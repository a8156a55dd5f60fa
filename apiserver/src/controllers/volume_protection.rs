//! Protection of volumes and claims in use, by the finalizers `kubernetes.io/pv-protection` and
//! `kubernetes.io/pvc-protection`.
//!
//! A claim that no Pod on a node uses, and a volume that is not bound, are let go when they are deleted.
//! Binding is not done here.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, json};

use super::garbage;
use crate::{
    cluster::Cluster,
    group_resource::GroupResource,
    log::{Event, Object, ObjectKey, Revision, Scope},
    resource::Subresource,
    write::{self, Applied, Change, WriteOptions},
};

/// The finalizer of claims.
const CLAIM: &str = "kubernetes.io/pvc-protection";
/// The finalizer of volumes.
const VOLUME: &str = "kubernetes.io/pv-protection";

/// The claims and volumes to check.
#[derive(Debug, Default)]
pub(super) struct Work {
    claims: BTreeSet<ObjectKey>,
    volumes: BTreeSet<ObjectKey>,
}

impl Work {
    /// Notes what a revision may let go.
    pub(super) fn note(&mut self, resource: &GroupResource, revision: &Revision) {
        let is_gone = revision.event == Event::Deleted;
        match (resource.group.as_str(), resource.plural.as_str()) {
            ("", "persistentvolumeclaims") if !is_gone => {
                self.claims.insert(revision.key.clone());
            }
            ("", "persistentvolumes") if !is_gone => {
                self.volumes.insert(revision.key.clone());
            }
            ("", "pods") if is_gone || revision.object.meta.deleting => {
                let pod = revision.object.value();
                let names = volumes(&pod).filter_map(|volume| claim_of(&pod, volume));
                let keys = names.map(|name| ObjectKey::new(revision.key.namespace.clone(), name));
                self.claims.extend(keys);
            }
            _ => {}
        }
    }

    /// Lets go what is not in use.
    pub(super) fn perform(self, cluster: &Cluster) {
        let (claims, volumes) = (core("persistentvolumeclaims"), core("persistentvolumes"));
        for key in self.claims {
            let in_use = |claim: &Object| is_claim_in_use(cluster, &key, claim);
            protect(cluster, &claims, &key, CLAIM, &in_use);
        }
        for key in self.volumes {
            let in_use = |volume: &Object| volume.value()["status"]["phase"] == "Bound";
            protect(cluster, &volumes, &key, VOLUME, &in_use);
        }
    }
}

fn core(plural: &str) -> GroupResource {
    GroupResource::new("", plural)
}

fn protect(
    cluster: &Cluster,
    id: &GroupResource,
    key: &ObjectKey,
    finalizer: &str,
    in_use: &dyn Fn(&Object) -> bool,
) {
    let Some(object) = cluster.log.get(id, key) else { return };
    let resources = cluster.registry.snapshot();
    let Some(resource) = resources.stored(id) else { return };
    let is_protected = object.meta.finalizers.iter().any(|found| **found == *finalizer);
    match (object.meta.deleting, is_protected) {
        (true, true) if !in_use(&object) => {
            garbage::drop_finalizer(cluster, resource, key, finalizer);
        }
        // Somebody has taken it away.
        (false, false) => {
            let mut change = |live: &Value| {
                let mut next = live.clone();
                match next["metadata"]["finalizers"].as_array_mut() {
                    Some(finalizers) => finalizers.push(json!(finalizer)),
                    None => next["metadata"]["finalizers"] = json!([finalizer]),
                }
                Ok(Change { next, managed: Applied::Yes })
            };
            let (main, options) = (Subresource::Main, WriteOptions::default());
            // It may be deleted already.
            let _ = write::update(cluster, resource, key, main, &options, &mut change);
        }
        _ => {}
    }
}

fn is_claim_in_use(cluster: &Cluster, key: &ObjectKey, claim: &Object) -> bool {
    let scope = Scope::Namespace(key.namespace.clone());
    let (_, pods) = cluster.log.entries(&core("pods"), &scope);
    pods.iter().any(|(_, pod): &(_, Arc<Object>)| uses(pod, &key.name, claim))
}

/// Whether a Pod on a node uses a claim; kubelets start none that uses a claim that is being deleted.
fn uses(pod: &Object, name: &str, claim: &Object) -> bool {
    let (meta, pod) = (&pod.meta, pod.value());
    if pod["spec"]["nodeName"].as_str().is_none_or(str::is_empty) {
        return false;
    }
    let is_shut_down =
        meta.deleting && pod["metadata"]["deletionGracePeriodSeconds"].as_i64() == Some(0);
    volumes(&pod).any(|volume| {
        let is_named = claim_of(&pod, volume).is_some_and(|found| found == name);
        let is_own = || claim.meta.owners.iter().any(|owner| owner.uid == meta.uid);
        is_named && (volume.get("ephemeral").is_none() || !is_shut_down && is_own())
    })
}

fn volumes(pod: &Value) -> impl Iterator<Item = &Value> {
    pod["spec"]["volumes"].as_array().into_iter().flatten()
}

/// The name of the claim of a volume of a Pod.
fn claim_of(pod: &Value, volume: &Value) -> Option<String> {
    if volume.get("ephemeral").is_some() {
        let (pod, volume) = (pod["metadata"]["name"].as_str()?, volume["name"].as_str()?);
        return Some(format!("{pod}-{volume}"));
    }
    volume["persistentVolumeClaim"]["claimName"].as_str().map(str::to_owned)
}
