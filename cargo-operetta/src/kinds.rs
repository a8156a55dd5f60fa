//! The types of Kubernetes that operators have as children, and where `k8s-openapi` has them.

/// Kind, and module below `k8s_openapi::api`.
const KINDS: [(&str, &str); 19] = [
    ("ConfigMap", "core::v1"),
    ("CronJob", "batch::v1"),
    ("DaemonSet", "apps::v1"),
    ("Deployment", "apps::v1"),
    ("EndpointSlice", "discovery::v1"),
    ("HorizontalPodAutoscaler", "autoscaling::v2"),
    ("Ingress", "networking::v1"),
    ("Job", "batch::v1"),
    ("Namespace", "core::v1"),
    ("NetworkPolicy", "networking::v1"),
    ("PersistentVolumeClaim", "core::v1"),
    ("Pod", "core::v1"),
    ("PodDisruptionBudget", "policy::v1"),
    ("Role", "rbac::v1"),
    ("RoleBinding", "rbac::v1"),
    ("Secret", "core::v1"),
    ("Service", "core::v1"),
    ("ServiceAccount", "core::v1"),
    ("StatefulSet", "apps::v1"),
];

/// Whether a child type of this kind cannot be added.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is none of the kinds that are known here ({list}): declare it in `config()` yourself, with \
     `.child::<T>(ChildConfig::apply())`", list = names()
)]
pub(crate) struct UnknownKind(pub(crate) String);

/// The path of the Rust type.
pub(crate) fn path_of(kind: &str) -> Result<String, UnknownKind> {
    let known = KINDS.iter().find(|(name, _)| *name == kind);
    let (name, module) = known.ok_or_else(|| UnknownKind(kind.to_owned()))?;
    Ok(format!("k8s_openapi::api::{module}::{name}"))
}

fn names() -> String {
    KINDS.map(|(name, _)| name).join(", ")
}
