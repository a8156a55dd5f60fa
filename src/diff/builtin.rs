//! Facts about Kubernetes' own types that their objects do not show. They go by path and type,
//! never by what a value looks like. Nothing here is about custom resources: the server stores them
//! as they are sent.

use serde_json::{Value, json};

use super::path::Path;
use crate::object::K8sType;

/// Fields whose values are quantities, by their last names; `*` is any name. Each pattern begins
/// with a name that no map with free keys has.
const QUANTITIES: [&[&str]; 18] = [
    &["resources", "requests", "*"],
    &["resources", "limits", "*"],
    &["capacity", "requests", "*"],
    &["spec", "capacity", "*"],
    &["spec", "hard", "*"],
    &["limits", "max", "*"],
    &["limits", "min", "*"],
    &["limits", "default", "*"],
    &["limits", "defaultRequest", "*"],
    &["limits", "maxLimitRequestRatio", "*"],
    &["emptyDir", "sizeLimit"],
    &["resourceFieldRef", "divisor"],
    &["capacity", "*", "value"],
    &["counters", "*", "value"],
    &["target", "averageValue"],
    &["target", "value"],
    &["scaleUp", "tolerance"],
    &["scaleDown", "tolerance"],
];

/// Whether the value at a path of a built-in type is a quantity.
pub(crate) fn is_quantity(path: &Path<'_>) -> bool {
    // Those of a `CSIStorageCapacity`.
    path.is(&["capacity"])
        || path.is(&["maximumVolumeSize"])
        || path.ends_with(&["overhead", "*"])
        || path.ends_with(&["overhead", "podFixed", "*"])
        || QUANTITIES.iter().any(|pattern| path.ends_with(pattern))
}

/// Whether a value is the server's default at this path of a built-in type. Only fields inside
/// atomic values are listed: elsewhere the managed fields show what is ours.
pub(crate) fn is_default(path: &Path<'_>, value: &Value) -> bool {
    let defaults: [(&[&str], Value); 18] = [
        (&["ports", "protocol"], json!("TCP")),
        (&["ports", "name"], json!("")),
        (&["fieldRef", "apiVersion"], json!("v1")),
        (&["resourceFieldRef", "divisor"], json!("0")),
        (&["serviceAccountToken", "expirationSeconds"], json!(3600)),
        (&["volumeClaimTemplates", "apiVersion"], json!("v1")),
        (&["volumeClaimTemplates", "kind"], json!("PersistentVolumeClaim")),
        (&["volumeClaimTemplates", "spec", "volumeMode"], json!("Filesystem")),
        (&["volumeClaimTemplates", "status"], json!({"phase": "Pending"})),
        (&["onPodConditions", "status"], json!("True")),
        (&["rules", "scope"], json!("*")),
        (&["resourceRules", "scope"], json!("*")),
        (&["excludeResourceRules", "scope"], json!("*")),
        (&["matchConstraints", "matchPolicy"], json!("Equivalent")),
        (&["matchConstraints", "namespaceSelector"], json!({})),
        (&["matchConstraints", "objectSelector"], json!({})),
        (&["roleRef", "apiGroup"], json!("rbac.authorization.k8s.io")),
        (&["subjects", "apiGroup"], json!("rbac.authorization.k8s.io")),
    ];
    defaults.iter().any(|(names, default)| path.ends_with(names) && value == default)
}

/// Whether the server drops an empty value at this path of a built-in type, within an atomic value.
/// It keeps the keys of a map, and what differs from an absent value (`optional: false`).
pub(crate) fn is_dropped_when_empty(path: &Path<'_>, value: &Value) -> bool {
    let dropped: [(&[&str], Value); 9] = [
        (&["envFrom", "prefix"], json!("")),
        (&["tolerations", "key"], json!("")),
        (&["tolerations", "operator"], json!("")),
        (&["tolerations", "value"], json!("")),
        (&["tolerations", "effect"], json!("")),
        (&["matchLabels"], json!({})),
        (&["metadata", "labels"], json!({})),
        (&["metadata", "annotations"], json!({})),
        (&["endpoints", "conditions"], json!({})),
    ];
    dropped.iter().any(|(names, empty)| path.ends_with(names) && value == empty)
}

/// Whether the value at a path of a built-in type is an atomic map that `{}` empties. Any other
/// `{}` asks for the server's defaults (`strategy: {}`).
pub(crate) fn is_selector(path: &Path<'_>) -> bool {
    path.last_field().is_some_and(names_selector)
}

/// Whether a field of this name holds such a map.
pub(crate) fn names_selector(field: &str) -> bool {
    field.ends_with("elector")
}

/// Whether an object of the type holds what cannot be rebuilt once it is deleted.
pub(crate) fn is_irreplaceable(ty: &K8sType) -> bool {
    matches!(
        (ty.group(), ty.kind()),
        ("", "PersistentVolumeClaim" | "PersistentVolume" | "Secret" | "Namespace")
            | ("apps", "StatefulSet")
            | ("apiextensions.k8s.io", "CustomResourceDefinition")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_hold_data_are_irreplaceable() {
        for (api_version, kind, expected) in [
            ("v1", "PersistentVolumeClaim", true),
            ("v1", "PersistentVolume", true),
            ("v1", "Secret", true),
            ("v1", "Namespace", true),
            ("apps/v1", "StatefulSet", true),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition", true),
            ("apps/v1", "Deployment", false),
            ("v1", "ConfigMap", false),
            ("example.com/v1", "Secret", false),
        ] {
            let ty = K8sType::namespaced(api_version, kind, "things");
            assert_eq!(is_irreplaceable(&ty), expected, "{ty}");
        }
    }
}
