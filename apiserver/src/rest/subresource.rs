//! Which part of an object a path is about.

use super::{call::Verb, route::ResourcePath};
use crate::{
    resource::{Resource, Subresource},
    status::StatusError,
};

/// The part that a path leads to, if the verb can be used on it.
pub(super) fn find(
    resource: &Resource,
    path: &ResourcePath,
    verb: Verb,
) -> Result<Subresource, StatusError> {
    let allowed = matches!(verb, Verb::Get | Verb::Update | Verb::Patch);
    let found = match path.subresource.as_deref() {
        None => return Ok(Subresource::Main),
        Some("status") if resource.has_status => Subresource::Status,
        Some("finalize") if is(resource, "", "namespaces") => Subresource::Finalize,
        Some("scale") if resource.has_scale() => Subresource::Scale,
        Some("ephemeralcontainers") if is(resource, "", "pods") => Subresource::EphemeralContainers,
        Some("resize") if is(resource, "", "pods") => Subresource::Resize,
        Some("approval") if is(resource, "certificates.k8s.io", "certificatesigningrequests") => {
            Subresource::Approval
        }
        Some(_) if resource.is_custom() => {
            let name = path.name.as_deref().unwrap_or_default();
            return Err(StatusError::not_found(&resource.id, name));
        }
        Some(_) => return Err(StatusError::no_such_resource()),
    };
    if allowed { Ok(found) } else { Err(StatusError::method_not_allowed()) }
}

fn is(resource: &Resource, group: &str, plural: &str) -> bool {
    (resource.id.group.as_str(), resource.id.plural.as_str()) == (group, plural)
}
