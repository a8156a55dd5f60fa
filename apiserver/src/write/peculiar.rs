//! The special cases of single types.

use serde_json::Value;

use super::Propagation;
use crate::{
    builtin,
    group_resource::GroupResource,
    resource::{Origin, Resource, Subresource},
    schema::name_rule::{self, NameRule},
};

/// The rule for names of a type.
pub(super) fn name_rule(resource: &Resource) -> NameRule {
    match resource.origin {
        Origin::BuiltIn(builtin) => builtin::name_rule(builtin),
        Origin::Definition | Origin::Custom(_) => name_rule::dns_subdomain,
    }
}

/// Whether a type marks its objects itself when they are deleted.
pub(super) fn is_definition(resource: &Resource) -> bool {
    matches!(resource.origin, Origin::Definition)
}

/// Whether a deletion gives an object time to end.
pub(super) fn deletes_gracefully(resource: &Resource) -> bool {
    resource.id.group.is_empty() && resource.id.plural == "pods"
}

/// Whether objects of the type are namespaces.
pub(super) fn is_namespace(resource: &Resource) -> bool {
    resource.id.group.is_empty() && resource.id.plural == "namespaces"
}

/// Whether a namespace still has content to be deleted.
pub(super) fn is_held_namespace(resource: &Resource, object: &Value) -> bool {
    is_namespace(resource) && object["spec"]["finalizers"].as_array().is_some_and(|f| !f.is_empty())
}

/// The default propagation policy of a delete.
pub(super) fn default_propagation(resource: &Resource) -> Propagation {
    match (resource.id.group.as_str(), resource.id.plural.as_str()) {
        ("batch", "jobs") | ("", "replicationcontrollers") => Propagation::Orphan,
        _ => Propagation::Background,
    }
}

/// Whether a write through a subresource does not change `metadata`.
pub(super) fn keeps_metadata(resource: &Resource, subresource: Subresource) -> bool {
    match subresource {
        Subresource::Main | Subresource::Approval => false,
        // Built-in types differ in what of their metadata may be written with their status. All of those of a definition
        // may.
        Subresource::Status => resource.is_custom(),
        Subresource::Scale
        | Subresource::Finalize
        | Subresource::EphemeralContainers
        | Subresource::Resize => true,
    }
}

/// Whether an update must have a resource version.
pub(super) fn needs_version(resource: &Resource) -> bool {
    match (resource.id.group.as_str(), resource.id.plural.as_str()) {
        ("coordination.k8s.io", _)
        | ("policy", "poddisruptionbudgets")
        | ("node.k8s.io", "runtimeclasses")
        | (
            "storage.k8s.io",
            "csidrivers" | "csinodes" | "csistoragecapacities" | "volumeattachments",
        ) => true,
        _ => !matches!(resource.origin, Origin::BuiltIn(_)),
    }
}

/// Whether an update of an absent object creates it.
pub(crate) fn creates_on_update(resource: &Resource) -> bool {
    matches!(
        (resource.id.group.as_str(), resource.id.plural.as_str()),
        ("", "endpoints" | "events" | "limitranges" | "services")
            | ("events.k8s.io", "events")
            | ("coordination.k8s.io", "leases" | "leasecandidates")
            | ("node.k8s.io", "runtimeclasses")
            | ("apiregistration.k8s.io", "apiservices")
            | (
                "rbac.authorization.k8s.io",
                "clusterrolebindings" | "clusterroles" | "rolebindings" | "roles"
            )
    )
}

/// Where the real server stores the objects of a type.
pub(crate) fn storage_prefix(resource: &Resource) -> String {
    let GroupResource { group, plural } = &*resource.storage;
    match (&resource.origin, group.as_str(), plural.as_str()) {
        (Origin::Custom(_) | Origin::Definition, ..) => format!("{group}/{plural}"),
        (_, "", "services") => "services/specs".to_owned(),
        (_, "", "endpoints") => "services/endpoints".to_owned(),
        (_, "", "nodes") => "minions".to_owned(),
        (_, "", "replicationcontrollers") => "controllers".to_owned(),
        (_, "networking.k8s.io", "ingresses") => "ingress".to_owned(),
        _ => plural.clone(),
    }
}

/// Whether a delete is answered with the object, and not with a `Status`.
pub(crate) fn returns_deleted(resource: &Resource) -> bool {
    match (resource.id.group.as_str(), resource.id.plural.as_str()) {
        ("", plural) => matches!(
            plural,
            "namespaces"
                | "persistentvolumeclaims"
                | "persistentvolumes"
                | "pods"
                | "podtemplates"
                | "resourcequotas"
                | "serviceaccounts"
                | "services"
        ),
        ("storage.k8s.io", plural) => plural != "csistoragecapacities",
        ("resource.k8s.io", plural) => plural != "devicetaintrules",
        _ => false,
    }
}

/// Whether objects of the type are Services.
pub(super) fn is_service(resource: &Resource) -> bool {
    resource.id.group.is_empty() && resource.id.plural == "services"
}

/// Whether objects of the type are limit ranges, which are named if they have no name.
pub(super) fn is_limit_range(resource: &Resource) -> bool {
    resource.id.group.is_empty() && resource.id.plural == "limitranges"
}
