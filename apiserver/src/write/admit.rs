//! Admission: objects that may not be created or deleted, regardless of their contents.

use serde_json::Value;

use super::{Result, peculiar::is_namespace};
use crate::{
    cluster::Cluster,
    crd,
    log::ObjectKey,
    resource::{GroupResource, Origin, Resource},
    status::StatusError,
};

/// Namespaces that must not be deleted.
const IMMORTAL_NAMESPACES: [&str; 3] = ["default", "kube-system", "kube-public"];

/// Refuses to create what cannot be.
pub(super) fn creation(cluster: &Cluster, resource: &Resource) -> Result<()> {
    match &resource.origin {
        Origin::Custom(custom) if crd::is_terminating(cluster, &custom.definition) => {
            Err(StatusError::method_not_allowed())
        }
        _ => Ok(()),
    }
}

/// Refuses to delete what must stay.
pub(super) fn deletion(resource: &Resource, name: &str) -> Result<()> {
    if is_namespace(resource) && IMMORTAL_NAMESPACES.contains(&name) {
        let why = "this namespace may not be deleted";
        return Err(StatusError::forbidden(&resource.id, name, why));
    }
    Ok(())
}

/// Whether an object may be created in a namespace.
pub(super) fn within_namespace(
    cluster: &Cluster,
    resource: &Resource,
    namespace: &str,
    object: &Value,
) -> Result<()> {
    let namespaces = GroupResource::new("", "namespaces");
    let Some(found) = cluster.log.get(&namespaces, &ObjectKey::new("", namespace)) else {
        return Err(StatusError::not_found(&namespaces, namespace));
    };
    if !found.meta.deleting {
        return Ok(());
    }
    let why = format!(
        "unable to create new content in namespace {namespace} because it is being terminated"
    );
    let cause = format!("namespace {namespace} is being terminated");
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    Err(StatusError::forbidden(&resource.id, name, &why).with_cause(
        "NamespaceTerminating",
        &cause,
        "metadata.namespace",
    ))
}
