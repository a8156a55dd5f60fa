//! The types of Kubernetes as constants, and the form in which a program writes its own.
//!
//! ```
//! use roperator::prelude::K8sType;
//!
//! static WEBSITE: &K8sType = &K8sType {
//!     api_version: "example.dev/v1",
//!     kind: "Website",
//!     plural_kind: "websites",
//! };
//! assert_eq!(WEBSITE.group(), "example.dev");
//! ```
//!
//! The constants are those of roperator 0.3, although Kubernetes no longer serves some of the versions, and
//! the versions that took their places.

use std::fmt;

use crate::resource::K8sTypeRef;

/// A resource type. Whether its objects are namespaced is asked of the API server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct K8sType {
    /// `v1` or `group/version`.
    pub api_version: &'static str,
    /// The kind, as in YAML.
    pub kind: &'static str,
    /// The plural, as in URLs.
    pub plural_kind: &'static str,
}

/// Makes a type of names that are known at run time only. It stays in memory until the process ends.
pub fn define_type(api_version: String, kind: String, plural_kind: String) -> &'static K8sType {
    let [api_version, kind, plural_kind] =
        [api_version, kind, plural_kind].map(|name| &*Box::leak(name.into_boxed_str()));
    Box::leak(Box::new(K8sType { api_version, kind, plural_kind }))
}

impl K8sType {
    /// Group and version; the group is empty for the core group.
    pub fn as_group_and_version(&self) -> (&str, &str) {
        self.api_version.split_once('/').unwrap_or(("", self.api_version))
    }

    /// The group; empty for the core group.
    pub fn group(&self) -> &str {
        self.as_group_and_version().0
    }

    /// The version without the group.
    pub fn version(&self) -> &str {
        self.as_group_and_version().1
    }

    /// `apiVersion` and `kind`.
    pub fn to_type_ref(&self) -> K8sTypeRef<'static> {
        K8sTypeRef(self.api_version, self.kind)
    }
}

impl fmt::Display for K8sType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.api_version, self.plural_kind)
    }
}

/// The modules of a group: `v1 "group/v1" { Kind "plural", .. }`.
macro_rules! group {
    ($($version:ident $api_version:literal { $($kind:ident $plural:literal),* $(,)? })*) => {$(
        #[doc = concat!("`", $api_version, "`")]
        pub mod $version {
            $(
                #[doc = concat!("`", stringify!($kind), "` of `", $api_version, "`.")]
                #[allow(non_upper_case_globals, reason = "named as the kind")]
                pub static $kind: &$crate::k8s_types::K8sType = &$crate::k8s_types::K8sType {
                    api_version: $api_version,
                    kind: stringify!($kind),
                    plural_kind: $plural,
                };
            )*
        }
    )*};
}

/// The core group.
pub mod core {
    group! {
        v1 "v1" {
            Binding "bindings",
            ComponentStatus "componentstatuses",
            ConfigMap "configmaps",
            Endpoints "endpoints",
            Event "events",
            LimitRange "limitranges",
            Namespace "namespaces",
            Node "nodes",
            PersistentVolume "persistentvolumes",
            PersistentVolumeClaim "persistentvolumeclaims",
            Pod "pods",
            PodTemplate "podtemplates",
            ReplicationController "replicationcontrollers",
            ResourceQuota "resourcequotas",
            Secret "secrets",
            Service "services",
            ServiceAccount "serviceaccounts",
        }
    }
}

/// `admissionregistration.k8s.io`
pub mod admissionregistration_k8s_io {
    group! {
        v1 "admissionregistration.k8s.io/v1" {
            MutatingWebhookConfiguration "mutatingwebhookconfigurations",
            ValidatingWebhookConfiguration "validatingwebhookconfigurations",
        }
        v1beta1 "admissionregistration.k8s.io/v1beta1" {
            MutatingWebhookConfiguration "mutatingwebhookconfigurations",
            ValidatingWebhookConfiguration "validatingwebhookconfigurations",
        }
    }
}

/// `apiextensions.k8s.io`
pub mod apiextensions_k8s_io {
    group! {
        v1 "apiextensions.k8s.io/v1" { CustomResourceDefinition "customresourcedefinitions" }
        v1beta1 "apiextensions.k8s.io/v1beta1" {
            CustomResourceDefinition "customresourcedefinitions",
        }
    }
}

/// `apiregistration.k8s.io`
pub mod apiregistration_k8s_io {
    group! { v1 "apiregistration.k8s.io/v1" { APIService "apiservices" } }
}

/// `apps`
pub mod apps {
    group! {
        v1 "apps/v1" {
            ControllerRevision "controllerrevisions",
            DaemonSet "daemonsets",
            Deployment "deployments",
            ReplicaSet "replicasets",
            StatefulSet "statefulsets",
        }
    }
}

/// `autoscaling`
pub mod autoscaling {
    group! {
        v1 "autoscaling/v1" { HorizontalPodAutoscaler "horizontalpodautoscalers" }
        v2 "autoscaling/v2" { HorizontalPodAutoscaler "horizontalpodautoscalers" }
    }
}

/// `authentication.k8s.io`
pub mod authentication_k8s_io {
    group! { v1 "authentication.k8s.io/v1" { TokenReview "tokenreviews" } }
}

/// `authorization.k8s.io`
pub mod authorization_k8s_io {
    group! {
        v1 "authorization.k8s.io/v1" {
            LocalSubjectAccessReview "localsubjectaccessreviews",
            SelfSubjectAccessReview "selfsubjectaccessreviews",
            SelfSubjectRulesReview "selfsubjectrulesreviews",
            SubjectAccessReview "subjectaccessreviews",
        }
    }
}

/// `batch`
pub mod batch {
    group! {
        v1 "batch/v1" { CronJob "cronjobs", Job "jobs" }
        v1beta1 "batch/v1beta1" { CronJob "cronjobs" }
    }
}

/// `certificates.k8s.io`
pub mod certificates_k8s_io {
    group! {
        v1 "certificates.k8s.io/v1" { CertificateSigningRequest "certificatesigningrequests" }
        v1beta1 "certificates.k8s.io/v1beta1" {
            CertificateSigningRequest "certificatesigningrequests",
        }
    }
}

/// `coordination.k8s.io`
pub mod coordination_k8s_io {
    group! { v1 "coordination.k8s.io/v1" { Lease "leases" } }
}

/// `events.k8s.io`
pub mod events_k8s_io {
    group! {
        v1 "events.k8s.io/v1" { Event "events" }
        v1beta1 "events.k8s.io/v1beta1" { Event "events" }
    }
}

/// `extensions`, which Kubernetes serves no more.
pub mod extensions {
    group! {
        v1beta1 "extensions/v1beta1" {
            DaemonSet "daemonsets",
            Deployment "deployments",
            Ingress "ingresses",
            NetworkPolicy "networkpolicies",
            PodSecurityPolicy "podsecuritypolicies",
            ReplicaSet "replicasets",
        }
    }
}

/// `networking.k8s.io`
pub mod networking_k8s_io {
    group! {
        v1 "networking.k8s.io/v1" { Ingress "ingresses", NetworkPolicy "networkpolicies" }
        v1beta1 "networking.k8s.io/v1beta1" { Ingress "ingresses", NetworkPolicy "networkpolicies" }
    }
}

/// `node.k8s.io`
pub mod node_k8s_io {
    group! {
        v1 "node.k8s.io/v1" { RuntimeClass "runtimeclasses" }
        v1beta1 "node.k8s.io/v1beta1" { RuntimeClass "runtimeclasses" }
    }
}

/// `policy`
pub mod policy {
    group! {
        v1 "policy/v1" { PodDisruptionBudget "poddisruptionbudgets" }
        v1beta1 "policy/v1beta1" {
            PodDisruptionBudget "poddisruptionbudgets",
            PodSecurityPolicy "podsecuritypolicies",
        }
    }
}

/// `rbac.authorization.k8s.io`
pub mod rbac_authorization_k8s_io {
    group! {
        v1 "rbac.authorization.k8s.io/v1" {
            ClusterRole "clusterroles",
            ClusterRoleBinding "clusterrolebindings",
            Role "roles",
            RoleBinding "rolebindings",
        }
    }
}

/// `scheduling.k8s.io`
pub mod scheduling_k8s_io {
    group! { v1 "scheduling.k8s.io/v1" { PriorityClass "priorityclasses" } }
}

/// `storage.k8s.io`
pub mod storage_k8s_io {
    group! {
        v1 "storage.k8s.io/v1" {
            CSIDriver "csidrivers",
            CSINode "csinodes",
            StorageClass "storageclasses",
            VolumeAttachment "volumeattachments",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_knows_its_group_and_version() {
        let driver = storage_k8s_io::v1::CSIDriver;
        assert_eq!(driver.as_group_and_version(), ("storage.k8s.io", "v1"));
        assert_eq!(driver.to_string(), "storage.k8s.io/v1/csidrivers");
        assert_eq!((core::v1::Pod.group(), core::v1::Pod.version()), ("", "v1"));
    }

    #[test]
    fn a_type_that_is_defined_at_run_time_is_the_same_type() {
        let pod = define_type("v1".to_owned(), "Pod".to_owned(), "pods".to_owned());
        assert_eq!(pod, core::v1::Pod);
    }
}
