//! Admission: objects that may not be created or deleted, regardless of their contents, and the way from a
//! write into the chain of [`crate::admission`].

use serde_json::Value;

use super::{DeleteOptions, WriteOptions, decode, peculiar::is_namespace};
use crate::{
    admission::Operation,
    cluster::Cluster,
    crd,
    group_resource::GroupResource,
    log::ObjectKey,
    resource::{Origin, Resource},
    status::{Result, StatusError},
};

/// Namespaces that must not be deleted.
const IMMORTAL_NAMESPACES: [&str; 3] = ["default", "kube-system", "kube-public"];

/// Refuses to create what cannot be.
pub(super) fn creation(cluster: &Cluster, resource: &Resource, object: &Value) -> Result<()> {
    match &resource.origin {
        Origin::Custom(custom) if crd::is_terminating(cluster, &custom.definition) => {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            let why = "create not allowed while custom resource definition is terminating";
            Err(StatusError::forbidden(&resource.id, name, why))
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
    let text = |field: &str| object["metadata"][field].as_str().filter(|text| !text.is_empty());
    let name = text("name").or_else(|| text("generateName")).unwrap_or("Unknown");
    Err(StatusError::forbidden(&resource.id, name, &why).with_cause(
        "NamespaceTerminating",
        &cause,
        "metadata.namespace",
    ))
}

/// Lets the chain change an object; what it warns of is added to the warnings.
pub(super) fn mutate(
    cluster: &Cluster,
    resource: &Resource,
    options: &WriteOptions,
    (operation, old): (Operation, Option<&Value>),
    object: &mut Value,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let Some(admission) = &options.admission else { return Ok(()) };
    let refine = |changed: &mut Value, unknown| decode::refine(resource, changed, unknown);
    let outcome = admission.mutate(cluster, operation, object, old, &refine);
    warnings.extend(admission.warnings());
    outcome
}

/// Lets the chain refuse an object.
pub(super) fn validate(
    cluster: &Cluster,
    options: &WriteOptions,
    (operation, old): (Operation, Option<&Value>),
    object: &Value,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let Some(admission) = &options.admission else { return Ok(()) };
    let outcome = admission.validate(cluster, operation, object, old);
    warnings.extend(admission.warnings());
    outcome
}

/// Lets the chain refuse a deletion.
pub(super) fn delete(cluster: &Cluster, options: &DeleteOptions, live: &Value) -> Result<()> {
    options.admission.as_ref().map_or(Ok(()), |admission| admission.delete(cluster, live))
}
