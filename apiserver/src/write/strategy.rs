//! What differs between types when they are written: schema, defaults, own rules.
//!
//! The one place that asks where a type comes from; the verbs around it are the same for all.

use serde_json::{Value, json};

use super::{FieldValidation, Propagation, Result, Subresource, WriteOptions, metadata};
use crate::{
    addresses::Refusal,
    builtin,
    cluster::Cluster,
    crd,
    log::ObjectKey,
    resource::{Origin, Resource},
    schema::{
        self, FieldError, FieldPath,
        name_rule::{self, NameRule},
    },
    status::StatusError,
};

/// Namespaces that must not be deleted.
const IMMORTAL_NAMESPACES: [&str; 3] = ["default", "kube-system", "kube-public"];

/// Drops what the schema does not declare, says so as asked, and fills in defaults.
pub(super) fn normalise(
    resource: &Resource,
    object: &mut Value,
    options: &WriteOptions,
) -> Result<Vec<String>> {
    let strict = options.validation == FieldValidation::Strict;
    let sent = (strict && options.patched).then(|| object.to_string());
    let mut unknown = match resource.origin {
        Origin::BuiltIn(builtin) => builtin::decode(builtin, object)
            .map_err(|error| StatusError::bad_request(error.to_string()))?,
        Origin::Definition | Origin::Custom(_) => {
            let mut unknown = metadata::round_trip(object);
            unknown.extend(schema::prune(&resource.schema, object));
            unknown
        }
    };
    unknown.sort();
    let complaints: Vec<String> =
        unknown.iter().map(|path| format!("unknown field \"{path}\"")).collect();
    if strict && !complaints.is_empty() {
        return Err(strict_refusal(resource, sent.as_deref(), &complaints));
    }
    match resource.origin {
        Origin::BuiltIn(builtin) => builtin::default(builtin, object),
        Origin::Custom(_) => schema::default(&resource.schema, object),
        Origin::Definition => crd::default(object),
    }
    let warn = options.validation == FieldValidation::Warn;
    Ok(if warn { complaints } else { Vec::new() })
}

fn strict_refusal(
    resource: &Resource,
    patched: Option<&str>,
    complaints: &[String],
) -> StatusError {
    let list = format!("strict decoding error: {}", complaints.join(", "));
    let Some(object) = patched else {
        let (kind, version) = (&resource.kind, &resource.version);
        let whole =
            format!("{kind} in version \"{version}\" cannot be handled as a {kind}: {list}");
        return StatusError::bad_request(whole);
    };
    let value = Value::from(object);
    StatusError::invalid("", "", "", &[FieldError::invalid(&FieldPath::new("patch"), &value, list)])
}

/// What the type decides about a new object.
pub(super) fn prepare_for_create(
    cluster: &Cluster,
    resource: &Resource,
    object: &mut Value,
) -> Result<()> {
    match &resource.origin {
        Origin::BuiltIn(builtin) => {
            builtin::prepare_for_create(builtin, object);
            allocate(cluster, resource, object, None)?;
        }
        Origin::Definition => crd::prepare_for_create(object),
        Origin::Custom(_) => {
            if resource.has_status {
                remove(object, "status");
            }
        }
    }
    Ok(())
}

/// What the type decides about a changed object.
pub(super) fn prepare_for_update(
    cluster: &Cluster,
    resource: &Resource,
    subresource: Subresource,
    live: &Value,
    next: &mut Value,
) -> Result<()> {
    match (&resource.origin, subresource) {
        (Origin::BuiltIn(builtin), Subresource::Finalize) => {
            builtin::prepare_for_finalize(builtin, next, live);
        }
        (Origin::BuiltIn(builtin), Subresource::Status) => {
            builtin::prepare_for_status_update(builtin, next, live);
        }
        (Origin::BuiltIn(builtin), _) => {
            builtin::prepare_for_update(builtin, next, live);
            allocate(cluster, resource, next, Some(live))?;
        }
        (_, Subresource::Status | Subresource::Finalize) => keep_all_but_status(live, next),
        (Origin::Definition, _) => copy(live, next, "status"),
        (Origin::Custom(_), _) if resource.has_status => copy(live, next, "status"),
        (Origin::Custom(_), _) => {}
    }
    Ok(())
}

fn keep_all_but_status(live: &Value, next: &mut Value) {
    let mut kept = live.clone();
    kept["metadata"] = next["metadata"].take();
    copy(next, &mut kept, "status");
    *next = kept;
}

fn allocate(
    cluster: &Cluster,
    resource: &Resource,
    object: &mut Value,
    live: Option<&Value>,
) -> Result<()> {
    if !is_service(resource) {
        return Ok(());
    }
    let Err(refusal) = cluster.addresses.allocate(object, live) else { return Ok(()) };
    let (path, value, detail) = match refusal {
        Refusal::Exhausted => {
            return Err(StatusError::internal("failed to allocate: the range is full"));
        }
        Refusal::AddressTaken(address) => (
            "spec.clusterIPs",
            json!([address.to_string()]),
            format!("failed to allocate IP {address}: provided IP is already allocated"),
        ),
        Refusal::PortTaken(port) => {
            ("spec.ports.nodePort", json!(port), "provided port is already allocated".to_owned())
        }
    };
    refuse(resource, object, &[FieldError::invalid(&FieldPath::new(path), &value, detail)])
}

/// Gives back what a write that failed had taken.
pub(super) fn abandon(
    cluster: &Cluster,
    resource: &Resource,
    object: &Value,
    live: Option<&Value>,
) {
    if is_service(resource) {
        cluster.addresses.release(object, live);
    }
}

fn is_service(resource: &Resource) -> bool {
    resource.id.group.is_empty() && resource.id.plural == "services"
}

/// Whether a new object is as its type demands.
pub(super) fn validate_create(resource: &Resource, object: &Value) -> Result<()> {
    let (namespaced, name_rule) = (resource.namespaced, name_rule(resource));
    let mut errors = schema::metadata::validate_create(object, namespaced, name_rule);
    errors.extend(match &resource.origin {
        Origin::BuiltIn(builtin) => builtin::validate_create(builtin, object),
        Origin::Definition => crd::validate(object),
        Origin::Custom(custom) => custom.validator.validate(object, None),
    });
    refuse(resource, object, &errors)
}

/// Whether a changed object is as its type demands.
pub(super) fn validate_update(
    resource: &Resource,
    subresource: Subresource,
    live: &Value,
    next: &Value,
) -> Result<()> {
    let mut errors = schema::metadata::validate_update(next, live);
    // The real server looks at metadata twice, and complains twice.
    errors.extend(errors.clone());
    errors.extend(match (&resource.origin, subresource) {
        (Origin::BuiltIn(_) | Origin::Definition, Subresource::Status | Subresource::Finalize) => {
            Vec::new()
        }
        (Origin::BuiltIn(builtin), _) => builtin::validate_update(builtin, next, live),
        (Origin::Definition, _) => crd::validate_update(next, live),
        (Origin::Custom(custom), Subresource::Status) => custom.status_errors(next, live),
        (Origin::Custom(custom), _) => custom.validator.validate(next, Some(live)),
    });
    refuse(resource, next, &errors)
}

/// What names of a type may look like.
fn name_rule(resource: &Resource) -> NameRule {
    match resource.origin {
        Origin::BuiltIn(builtin) => builtin::name_rule(builtin),
        Origin::Definition | Origin::Custom(_) => name_rule::dns_subdomain,
    }
}

fn refuse(resource: &Resource, object: &Value, errors: &[FieldError]) -> Result<()> {
    if errors.is_empty() {
        return Ok(());
    }
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    Err(StatusError::invalid(&resource.id.group, &resource.kind, name, errors))
}

/// The object as it is stored.
pub(super) fn to_storage(resource: &Resource, mut object: Value) -> Value {
    match resource.origin {
        _ if resource.is_stored_form() => {}
        Origin::BuiltIn(builtin) => {
            if let Some(stored) = builtin::stored_as(builtin) {
                builtin::convert(&mut object, stored);
            }
        }
        _ => object["apiVersion"] = json!(resource.storage_api_version()),
    }
    object
}

/// What follows from a write at once, before it is answered.
pub(super) fn after_commit(
    cluster: &Cluster,
    resource: &Resource,
    subresource: Subresource,
    key: &ObjectKey,
) {
    // The status of a definition follows from its publication, and must not lead to another.
    if matches!(resource.origin, Origin::Definition) && subresource == Subresource::Main {
        crd::publish(cluster, &key.name);
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

/// Refuses to create what cannot be.
pub(super) fn admit_create(cluster: &Cluster, resource: &Resource) -> Result<()> {
    match &resource.origin {
        Origin::Custom(custom) if crd::is_terminating(cluster, &custom.definition) => {
            Err(StatusError::method_not_allowed())
        }
        _ => Ok(()),
    }
}

/// Refuses to delete what must stay.
pub(super) fn admit_delete(resource: &Resource, name: &str) -> Result<()> {
    if is_namespace(resource) && IMMORTAL_NAMESPACES.contains(&name) {
        let why = "this namespace may not be deleted";
        return Err(StatusError::forbidden(&resource.id, name, why));
    }
    Ok(())
}

/// What becomes of dependents when a delete does not say.
pub(super) fn default_propagation(resource: &Resource) -> Propagation {
    match (resource.id.group.as_str(), resource.id.plural.as_str()) {
        ("batch", "jobs") | ("", "replicationcontrollers") => Propagation::Orphan,
        _ => Propagation::Background,
    }
}

/// Whether a write through a subresource leaves all of `metadata` as it is.
pub(super) fn keeps_metadata(resource: &Resource, subresource: Subresource) -> bool {
    match subresource {
        Subresource::Main => false,
        // Built-in types differ in what of their metadata may be written with their status.
        Subresource::Status => !matches!(resource.origin, Origin::BuiltIn(_)),
        Subresource::Scale | Subresource::Finalize => true,
    }
}

/// Whether an update must say which version it was made from.
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

fn copy(from: &Value, to: &mut Value, field: &str) {
    match from.get(field) {
        Some(value) => to[field] = value.clone(),
        None => remove(to, field),
    }
}

fn remove(object: &mut Value, field: &str) {
    if let Some(object) = object.as_object_mut() {
        object.remove(field);
    }
}
