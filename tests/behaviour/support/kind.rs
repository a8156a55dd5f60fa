//! The types of test objects.

use kube::api::{ApiResource, GroupVersionKind};

/// `apiVersion`, kind and plural of a type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind(pub(crate) &'static str, pub(crate) &'static str, pub(crate) &'static str);

pub(crate) const ECHO: Kind = Kind("example.operetta.dev/v1alpha1", "EchoServer", "echoservers");
pub(crate) const TEMP: Kind =
    Kind("example.operetta.dev/v1alpha1", "TempNamespace", "tempnamespaces");
pub(crate) const PROPAGATION: Kind =
    Kind("example.operetta.dev/v1alpha1", "Propagation", "propagations");
pub(crate) const DATABASE: Kind = Kind("example.operetta.dev/v1", "Database", "databases");
pub(crate) const POD: Kind = Kind("v1", "Pod", "pods");
pub(crate) const SERVICE: Kind = Kind("v1", "Service", "services");
pub(crate) const SECRET: Kind = Kind("v1", "Secret", "secrets");
pub(crate) const CLAIM: Kind = Kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims");
pub(crate) const VOLUME: Kind = Kind("v1", "PersistentVolume", "persistentvolumes");
pub(crate) const STORAGE_CLASS: Kind = Kind("storage.k8s.io/v1", "StorageClass", "storageclasses");
pub(crate) const STATEFUL_SET: Kind = Kind("apps/v1", "StatefulSet", "statefulsets");
pub(crate) const DEPLOYMENT: Kind = Kind("apps/v1", "Deployment", "deployments");
pub(crate) const JOB: Kind = Kind("batch/v1", "Job", "jobs");
pub(crate) const CRON_JOB: Kind = Kind("batch/v1", "CronJob", "cronjobs");
pub(crate) const CONFIG_MAP: Kind = Kind("v1", "ConfigMap", "configmaps");
pub(crate) const ENDPOINT_SLICE: Kind =
    Kind("discovery.k8s.io/v1", "EndpointSlice", "endpointslices");
pub(crate) const EVENT: Kind = Kind("events.k8s.io/v1", "Event", "events");
/// The same Events in the API group that can be selected by the involved object.
pub(crate) const CORE_EVENT: Kind = Kind("v1", "Event", "events");
pub(crate) const CRD: Kind =
    Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions");
pub(crate) const CLUSTER_ROLE: Kind =
    Kind("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles");
pub(crate) const CLUSTER_ROLE_BINDING: Kind =
    Kind("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings");
pub(crate) const LEASE: Kind = Kind("coordination.k8s.io/v1", "Lease", "leases");
pub(crate) const NAMESPACE: Kind = Kind("v1", "Namespace", "namespaces");

impl Kind {
    /// Parses `apiVersion`, kind and plural as in the files of test data, and leaks the text.
    pub(crate) fn read(names: &str) -> Self {
        let names: Vec<&'static str> = names.to_owned().leak().split(' ').collect();
        Self(names[0], names[1], names[2])
    }

    pub(crate) fn is_cluster_scoped(self) -> bool {
        let cluster_scoped = [
            NAMESPACE.1,
            TEMP.1,
            PROPAGATION.1,
            CRD.1,
            CLUSTER_ROLE.1,
            CLUSTER_ROLE_BINDING.1,
            VOLUME.1,
            STORAGE_CLASS.1,
            "MutatingAdmissionPolicy",
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration",
            "MutatingAdmissionPolicyBinding",
            "ResourceSlice",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
            "ValidatingWebhookConfiguration",
        ];
        cluster_scoped.contains(&self.1)
    }

    pub(crate) fn resource(self) -> ApiResource {
        let (group, version) = self.0.split_once('/').unwrap_or(("", self.0));
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, self.1), self.2)
    }
}
