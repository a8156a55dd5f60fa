//! The objects that simulated controllers decide about.

use std::sync::Arc;

use crate::{group_resource::GroupResource, log::ObjectKey};

/// A type that a simulated controller decides about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// The node.
    Node,
    /// Pods.
    Pod,
    /// `ReplicaSet`s.
    ReplicaSet,
    /// Deployments.
    Deployment,
    /// `StatefulSet`s.
    StatefulSet,
    /// `DaemonSet`s.
    DaemonSet,
    /// `ControllerRevision`s.
    Revision,
    /// Jobs.
    Job,
    /// `CronJob`s.
    CronJob,
    /// Claims for volumes.
    Claim,
    /// Volumes.
    Volume,
    /// Classes of volumes.
    Class,
    /// Services.
    Service,
    /// `EndpointSlice`s.
    Slice,
    /// Endpoints.
    Endpoints,
    /// Autoscalers.
    Autoscaler,
    /// Events.
    Event,
}

/// Their groups, plurals and kinds.
const KINDS: [(Kind, &str, &str, &str); 17] = [
    (Kind::Node, "", "nodes", "Node"),
    (Kind::Pod, "", "pods", "Pod"),
    (Kind::ReplicaSet, "apps", "replicasets", "ReplicaSet"),
    (Kind::Deployment, "apps", "deployments", "Deployment"),
    (Kind::StatefulSet, "apps", "statefulsets", "StatefulSet"),
    (Kind::DaemonSet, "apps", "daemonsets", "DaemonSet"),
    (Kind::Revision, "apps", "controllerrevisions", "ControllerRevision"),
    (Kind::Job, "batch", "jobs", "Job"),
    (Kind::CronJob, "batch", "cronjobs", "CronJob"),
    (Kind::Claim, "", "persistentvolumeclaims", "PersistentVolumeClaim"),
    (Kind::Volume, "", "persistentvolumes", "PersistentVolume"),
    (Kind::Class, "storage.k8s.io", "storageclasses", "StorageClass"),
    (Kind::Service, "", "services", "Service"),
    (Kind::Slice, "discovery.k8s.io", "endpointslices", "EndpointSlice"),
    (Kind::Endpoints, "", "endpoints", "Endpoints"),
    (Kind::Autoscaler, "autoscaling", "horizontalpodautoscalers", "HorizontalPodAutoscaler"),
    (Kind::Event, "", "events", "Event"),
];

impl Kind {
    /// The type of a resource, if it is one of these.
    pub(super) fn of(resource: &GroupResource) -> Option<Self> {
        let found = KINDS
            .iter()
            .find(|(_, group, plural, _)| resource.group == *group && resource.plural == *plural);
        found.map(|(kind, ..)| *kind)
    }

    /// The type with a name, in a version of its group.
    pub(super) fn named(api_version: &str, name: &str) -> Option<Self> {
        let given = api_version.split_once('/').map_or("", |(group, _)| group);
        let found = KINDS.iter().find(|(_, group, _, kind)| given == *group && name == *kind);
        found.map(|(kind, ..)| *kind)
    }

    /// The resource of the type.
    pub(super) fn resource(self) -> GroupResource {
        let (_, group, plural, _) =
            KINDS.iter().find(|(kind, ..)| *kind == self).expect("every type is in the table");
        GroupResource::new(*group, *plural)
    }
}

/// An object to decide about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Item {
    /// Its type.
    pub kind: Kind,
    /// Its key.
    pub key: ObjectKey,
}

impl Item {
    /// An object.
    pub(super) fn new(kind: Kind, namespace: &Arc<str>, name: &str) -> Self {
        Self { kind, key: ObjectKey::new(Arc::clone(namespace), name) }
    }
}
