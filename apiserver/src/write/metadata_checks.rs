//! By which rules the real server checks the metadata of an object, and in which order: once for all types, and once or
//! twice more in the validation of most types. What is found again is reported again only of custom types.

use serde_json::Value;

use crate::{
    resource::{Origin, Resource, Subresource},
    schema::{FieldError, FieldPath, metadata, name_rule::NameRule},
};

/// The finalizers without a domain that there are.
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// A check that the validation of a type makes of the metadata of a changed object, beside those that
/// are made for all types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetadataCheck {
    /// As of a new object.
    New,
    /// As of a change.
    Change,
    /// The same without the rule for finalizers of built-in types.
    PlainChange,
}

/// What the validation of a type checks of the metadata once more.
pub(super) fn of_type(resource: &Resource, subresource: Subresource) -> &'static [MetadataCheck] {
    use MetadataCheck::{Change, New, PlainChange};
    if !matches!(resource.origin, Origin::BuiltIn(_)) {
        return &[PlainChange];
    }
    if subresource != Subresource::Main {
        return if is_last(resource) { &[] } else { &[Change] };
    }
    match (resource.storage.group.as_str(), resource.storage.plural.as_str()) {
        ("policy", "poddisruptionbudgets") | ("", "events") => &[],
        ("coordination.k8s.io", _) => &[PlainChange],
        ("", "limitranges" | "persistentvolumes") | ("discovery.k8s.io", "endpointslices") => {
            &[New]
        }
        (
            "",
            "configmaps"
            | "secrets"
            | "serviceaccounts"
            | "pods"
            | "persistentvolumeclaims"
            | "endpoints"
            | "namespaces"
            | "nodes",
        )
        | ("networking.k8s.io", "ingresses")
        | ("storage.k8s.io", "storageclasses") => &[Change, New],
        _ => &[Change],
    }
}

/// Whether a changed object of a type is first judged like a new one, then its metadata, and then what changed.
pub(super) fn is_new_first(resource: &Resource, subresource: Subresource) -> bool {
    subresource == Subresource::Main
        && matches!(resource.origin, Origin::BuiltIn(_))
        && resource.storage.group == "rbac.authorization.k8s.io"
}

/// Whether the validation of a new object of a type leaves its metadata to the check for all types,
/// which comes last and knows no rule for finalizers.
pub(super) fn is_last(resource: &Resource) -> bool {
    matches!(
        (resource.storage.group.as_str(), resource.storage.plural.as_str()),
        ("policy", "poddisruptionbudgets") | ("", "events")
    ) && matches!(resource.origin, Origin::BuiltIn(_))
}

/// What is wrong with the metadata of a new object.
pub(super) fn of_new(resource: &Resource, object: &Value, name_rule: NameRule) -> Vec<FieldError> {
    let mut errors = metadata::validate_create(object, resource.namespaced, name_rule);
    if !is_last(resource) {
        errors.extend(finalizer_errors(resource, object));
    }
    errors
}

/// What is wrong with the metadata of a changed object.
pub(super) fn of_change(resource: &Resource, next: &Value, live: &Value) -> Vec<FieldError> {
    let mut errors = metadata::validate_update(next, live);
    errors.extend(finalizer_errors(resource, next));
    errors
}

/// What is wrong with the finalizers of a built-in type beside what is wrong for all types.
fn finalizer_errors(resource: &Resource, object: &Value) -> Vec<FieldError> {
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
    errors.collect()
}

/// What is wrong with the place of an Event. It is in the namespace of what it is about; without
/// one, in the default namespace.
pub(super) fn event_error(resource: &Resource, object: &Value) -> Option<FieldError> {
    if (resource.id.group.as_str(), resource.id.plural.as_str()) != ("", "events") {
        return None;
    }
    let involved = object["involvedObject"]["namespace"].as_str().unwrap_or_default();
    let own = object["metadata"]["namespace"].as_str().unwrap_or_default();
    let is_new = !object["eventTime"].is_null();
    let fits = match (involved.is_empty(), is_new) {
        (true, false) => own == "default",
        (true, true) => matches!(own, "default" | "kube-system"),
        (false, is_new) => is_new || own == involved,
    };
    (!fits).then(|| {
        let path = FieldPath::new("involvedObject").child("namespace");
        FieldError::invalid(&path, &Value::from(involved), "does not match event.namespace")
    })
}
