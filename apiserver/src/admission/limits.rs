//! Limit ranges and quotas in the chain.

use serde_json::Value;

use super::{attributes::Attributes, kind::Operation, pass::Pass};
use crate::{
    group_resource::GroupResource,
    log::Scope,
    quota::{self, Charge},
    status::StatusError,
};

/// Gives a new pod the resources that limit ranges name.
pub(super) fn mutate(pass: &Pass<'_>, object: &mut Option<Value>) {
    let Some(object) = object else { return };
    if plural(&pass.attributes(None)) == Some("pods") {
        for range in &ranges(pass) {
            quota::default_pod(range, object);
        }
    }
}

/// Refuses what is outside of a limit range.
pub(super) fn validate(pass: &Pass<'_>, object: Option<&Value>) -> Result<(), StatusError> {
    let attributes = pass.attributes(object);
    let (Some(object), Some(plural)) = (object, plural(&attributes)) else { return Ok(()) };
    if pass.old.is_some_and(|old| !old["metadata"]["deletionTimestamp"].is_null()) {
        return Ok(());
    }
    let ranges = ranges(pass);
    let broken = ranges.iter().find_map(|range| quota::violation(range, plural, object));
    broken.map_or(Ok(()), |why| Err(forbidden(&attributes, &why)))
}

/// Charges the quotas of the namespace.
pub(super) fn charge(pass: &Pass<'_>, object: Option<&Value>) -> Result<(), StatusError> {
    let attributes = pass.attributes(object);
    let asked = attributes.asked;
    let Some(object) = object.filter(|_| !asked.is_namespace()) else { return Ok(()) };
    let charge = Charge {
        resource: &asked.resource.id,
        namespace: &asked.namespace,
        subresource: &asked.subresource,
        object,
        old: attributes.old,
        dry_run: asked.dry_run,
    };
    quota::charge(pass.cluster, &charge).map_err(|why| forbidden(&attributes, &why))
}

/// The plural of a resource that limit ranges are about, for a write that they are about.
fn plural(attributes: &Attributes<'_>) -> Option<&'static str> {
    let asked = attributes.asked;
    if !asked.resource.id.group.is_empty() || !asked.subresource.is_empty() {
        return None;
    }
    match (asked.resource.id.plural.as_str(), attributes.operation) {
        ("pods", Operation::Create) => Some("pods"),
        ("persistentvolumeclaims", Operation::Create | Operation::Update) => {
            Some("persistentvolumeclaims")
        }
        _ => None,
    }
}

fn ranges(pass: &Pass<'_>) -> Vec<Value> {
    let namespace = pass.asked.namespace.as_str();
    let resource = GroupResource::new("", "limitranges");
    let (_, entries) = pass.cluster.log.entries(&resource, &Scope::Namespace(namespace.into()));
    entries.iter().map(|(_, range)| range.value()).collect()
}

fn forbidden(attributes: &Attributes<'_>, why: &str) -> StatusError {
    StatusError::forbidden(&attributes.asked.resource.id, attributes.shown_name(), why)
}
