//! One `APIService` for each group version that is served.

use std::{collections::BTreeSet, sync::PoisonError};

use serde_json::{Value, json};

use super::object::create;
use crate::{
    cluster::Cluster,
    discovery,
    log::{ObjectKey, Scope},
    resource::{Resource, Resources},
    write::{self, DeleteOptions},
};

const MANAGED: &str = "kube-aggregator.kubernetes.io/automanaged";
/// The priority of each built-in group, and of its versions where that is not the usual one.
const PRIORITIES: [(&str, u32, u32); 22] = [
    ("", 18_000, 1),
    ("admissionregistration.k8s.io", 16_700, 15),
    ("apiextensions.k8s.io", 16_700, 15),
    ("apps", 17_800, 15),
    ("authentication.k8s.io", 17_700, 15),
    ("authorization.k8s.io", 17_600, 15),
    ("autoscaling", 17_500, 15),
    ("batch", 17_400, 15),
    ("certificates.k8s.io", 17_300, 15),
    ("coordination.k8s.io", 16_500, 15),
    ("discovery.k8s.io", 16_200, 15),
    ("events.k8s.io", 17_750, 15),
    ("flowcontrol.apiserver.k8s.io", 16_100, 21),
    ("networking.k8s.io", 17_200, 15),
    ("node.k8s.io", 16_300, 15),
    ("policy", 17_100, 15),
    ("rbac.authorization.k8s.io", 17_000, 15),
    ("resource.k8s.io", 16_200, 21),
    ("scheduling.k8s.io", 16_600, 15),
    ("storage.k8s.io", 16_800, 15),
    ("storagemigration.k8s.io", 15_800, 15),
    ("apiregistration.k8s.io", 20_000, 18),
];

/// A group version with its priorities.
struct Served {
    group: String,
    version: String,
    priorities: [u32; 2],
    is_custom: bool,
}

/// Creates what is missing, and removes what is not served any more.
pub(super) fn complete(cluster: &Cluster) {
    // The types must not change meanwhile: what is removed for a new one would be created again for the old one.
    let _one_at_a_time = cluster.publishing.lock().unwrap_or_else(PoisonError::into_inner);
    complete_published(cluster);
}

/// Follows a definition that is being published, so that a watch of the services sees it. Does nothing before the
/// services are first asked for.
pub(super) fn follow(cluster: &Cluster) {
    let resources = cluster.registry.snapshot();
    let services = resources.by_kind("apiregistration.k8s.io", "APIService");
    if services.is_some_and(|services| !cluster.log.is_empty(&services.storage, &Scope::All)) {
        complete_published(cluster);
    }
}

fn complete_published(cluster: &Cluster) {
    let resources = cluster.registry.snapshot();
    let Some(services) = resources.by_kind("apiregistration.k8s.io", "APIService") else { return };
    let served = served(&resources);
    let names: BTreeSet<String> = served.iter().map(Served::name).collect();
    for served in &served {
        create(cluster, services, served.service(), "kube-apiserver");
    }
    remove_others(cluster, services, &names);
}

fn served(resources: &Resources) -> Vec<Served> {
    let groups = discovery::core().into_iter().chain(discovery::others(resources));
    let versions = groups.flat_map(|group| {
        let name = group.name.into_owned();
        group.versions.into_iter().map(move |version| (name.clone(), version.version.into_owned()))
    });
    // The aggregator does not list itself.
    let listed = versions.filter(|(group, _)| group != "apiregistration.k8s.io");
    listed
        .map(|(group, version)| {
            let known = PRIORITIES.iter().find(|(name, _, _)| *name == group);
            let is_custom = known.is_none();
            let priorities = match known {
                Some(_) if group == "autoscaling" && version == "v2" => [17_500, 30],
                Some((_, group, version)) => [*group, *version],
                None => [1000, 100],
            };
            Served { group, version, priorities, is_custom }
        })
        .collect()
}

/// Removes those of custom group versions that are not served any more.
fn remove_others(cluster: &Cluster, services: &Resource, names: &BTreeSet<String>) {
    for (key, object) in cluster.log.entries(&services.storage, &Scope::All).1 {
        let is_ours = object.meta.labels.get(MANAGED).is_some_and(|label| label == "true");
        if is_ours && !names.contains(&*key.name) {
            remove(cluster, services, &key);
        }
    }
}

fn remove(cluster: &Cluster, services: &Resource, key: &ObjectKey) {
    // It may be deleted already.
    let _ = write::delete(cluster, services, key, &DeleteOptions::default());
}

impl Served {
    fn name(&self) -> String {
        format!("{}.{}", self.version, self.group)
    }

    fn service(&self) -> Value {
        let [group_priority, version_priority] = self.priorities;
        let managed = if self.is_custom { "true" } else { "onstart" };
        json!({
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": { "name": self.name(), "labels": { MANAGED: managed } },
            "spec": {
                "group": self.group,
                "version": self.version,
                "groupPriorityMinimum": group_priority,
                "versionPriority": version_priority,
            },
        })
    }
}
