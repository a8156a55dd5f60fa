//! The special cases of single types.

use serde_json::Value;

use super::{Propagation, Subresource};
use crate::{
    builtin, crd,
    resource::{Origin, Resource},
    schema::{
        FieldError, FieldPath,
        name_rule::{self, NameRule},
    },
};

/// The finalizers without a domain that there are.
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// The rule for names of a type.
pub(super) fn name_rule(resource: &Resource) -> NameRule {
    match resource.origin {
        Origin::BuiltIn(builtin) => builtin::name_rule(builtin),
        Origin::Definition | Origin::Custom(_) => name_rule::dns_subdomain,
    }
}

/// The finalizers that a type gives to an object that is being deleted.
pub(super) fn finalizers_on_delete(resource: &Resource) -> &'static [&'static str] {
    match resource.origin {
        Origin::Definition => &[crd::CLEANUP],
        Origin::BuiltIn(_) | Origin::Custom(_) => &[],
    }
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
        Subresource::Main => false,
        // Built-in types differ in what of their metadata may be written with their status.
        Subresource::Status => !matches!(resource.origin, Origin::BuiltIn(_)),
        Subresource::Scale | Subresource::Finalize => true,
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
        ("resource.k8s.io", _) => true,
        _ => false,
    }
}

/// What is wrong with the metadata of a built-in type beside what is wrong for all types.
pub(super) fn metadata_errors(resource: &Resource, object: &Value) -> Vec<FieldError> {
    if !matches!(resource.origin, Origin::BuiltIn(_)) {
        return Vec::new();
    }
    let path = FieldPath::new("metadata").child("finalizers");
    let finalizers = object["metadata"]["finalizers"].as_array().into_iter().flatten();
    let bare = finalizers.enumerate().filter(|(_, finalizer)| {
        let name = finalizer.as_str().unwrap_or_default();
        !name.contains('/') && !STANDARD_FINALIZERS.contains(&name)
    });
    let errors = bare.map(|(at, finalizer)| {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        FieldError::invalid(&path.index(at), finalizer, detail)
    });
    errors.chain(event_error(resource, object)).collect()
}

/// An Event is in the namespace of what it is about; without one, in the default namespace.
fn event_error(resource: &Resource, object: &Value) -> Option<FieldError> {
    if (resource.id.group.as_str(), resource.id.plural.as_str()) != ("", "events") {
        return None;
    }
    let involved = object["involvedObject"]["namespace"].as_str().unwrap_or_default();
    let own = object["metadata"]["namespace"].as_str().unwrap_or_default();
    let fits = if involved.is_empty() { own == "default" } else { own == involved };
    (!fits).then(|| {
        let path = FieldPath::new("involvedObject").child("namespace");
        FieldError::invalid(&path, &Value::from(involved), "does not match event.namespace")
    })
}

/// Whether objects of the type are Services.
pub(super) fn is_service(resource: &Resource) -> bool {
    resource.id.group.is_empty() && resource.id.plural == "services"
}
