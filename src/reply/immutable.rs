//! The immutable fields of Kubernetes' own types, and how the API server refuses to change them.
//!
//! Source: the validation of each type in `pkg/apis/<group>/validation` of Kubernetes 1.33 to 1.37. A field that is missing
//! here is not proven to be immutable: its child is then not recreated.

/// Group, kind, and the fields, which include those inside them.
const FIELDS: [(&str, &str, &[&str]); 35] = [
    ("", "ConfigMap", &["immutable", "data", "binaryData"]),
    ("", "Node", &["spec.podCIDR", "spec.podCIDRs", "spec.providerID"]),
    ("", "PersistentVolume", &["spec.persistentvolumesource", "nodeAffinity", "volumeMode"]),
    ("", "PersistentVolumeClaim", &["spec", "volumeMode"]),
    ("", "Pod", &["spec"]),
    ("", "ResourceQuota", &["spec.scopes"]),
    ("", "Secret", &["immutable", "data", "type"]),
    (
        "",
        "Service",
        &[
            "spec.clusterIP",
            "spec.clusterIPs",
            "spec.healthCheckNodePort",
            "spec.ipFamilies",
            "spec.loadBalancerClass",
        ],
    ),
    ("apps", "ControllerRevision", &["data"]),
    ("apps", "DaemonSet", &["spec.selector"]),
    ("apps", "Deployment", &["spec.selector"]),
    ("apps", "ReplicaSet", &["spec.selector"]),
    ("apps", "StatefulSet", &["spec"]),
    (
        "batch",
        "Job",
        &[
            "spec.backoffLimitPerIndex",
            "spec.completionMode",
            "spec.completions",
            "spec.managedBy",
            "spec.podFailurePolicy",
            "spec.selector",
            "spec.successPolicy",
            "spec.template",
        ],
    ),
    ("certificates.k8s.io", "CertificateSigningRequest", &["spec"]),
    ("certificates.k8s.io", "ClusterTrustBundle", &["spec.signerName"]),
    ("certificates.k8s.io", "PodCertificateRequest", &["spec"]),
    ("coordination.k8s.io", "LeaseCandidate", &["spec.leaseName"]),
    ("discovery.k8s.io", "EndpointSlice", &["addressType"]),
    ("networking.k8s.io", "IPAddress", &["spec.parentRef"]),
    ("networking.k8s.io", "IngressClass", &["spec.controller"]),
    ("networking.k8s.io", "ServiceCIDR", &["spec.cidrs"]),
    ("node.k8s.io", "RuntimeClass", &["handler"]),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", &["roleRef"]),
    ("rbac.authorization.k8s.io", "RoleBinding", &["roleRef"]),
    ("resource.k8s.io", "ResourceClaim", &["spec"]),
    ("resource.k8s.io", "ResourceClaimTemplate", &["spec"]),
    ("resource.k8s.io", "ResourceSlice", &["spec.driver", "spec.nodeName", "spec.pool.name"]),
    ("scheduling.k8s.io", "PriorityClass", &["value", "preemptionPolicy"]),
    ("storage.k8s.io", "CSIDriver", &["spec"]),
    ("storage.k8s.io", "CSINode", &["spec.drivers"]),
    ("storage.k8s.io", "CSIStorageCapacity", &["nodeTopology", "storageClassName"]),
    (
        "storage.k8s.io",
        "StorageClass",
        &["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"],
    ),
    ("storage.k8s.io", "VolumeAttachment", &["spec"]),
    ("storage.k8s.io", "VolumeAttributesClass", &["driverName", "parameters"]),
];

/// The words of the API server for a field that cannot be changed.
const WORDS: [&str; 9] = [
    "immutable",
    "may not change",
    "may not be changed",
    "may not add or remove containers",
    "can not be modified",
    // Since 1.37, of the provider of a node.
    "cannot be modified once set",
    "cannot be cleared once set",
    "cannot change",
    "updates to ",
];

/// Whether the validation of a type (group, kind) says of a path that it is in an immutable field.
pub(super) fn is_proven(ty: (&str, &str), path: &str, why: &str) -> bool {
    let known = FIELDS.iter().find(|(group, kind, _)| (*group, *kind) == ty);
    known.is_some_and(|(.., fields)| fields.iter().any(|field| is_in(path, field)))
        && WORDS.iter().any(|words| why.contains(words))
}

fn is_in(path: &str, field: &str) -> bool {
    let rest = path.strip_prefix(field);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
