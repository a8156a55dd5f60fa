//! The differences between types when they are written: status, allocation, validation, warnings.
//!
//! Only this module depends on the origin of a type; the verbs are the same for all.

use serde_json::{Value, json};

use super::{
    DeleteOptions, metadata,
    part::part_of,
    peculiar::{is_limit_range, is_service},
    phase_time, validate,
};
use crate::{
    addresses::{Asked, Refusal, Reservation},
    builtin,
    certificates::{self, is_signing_request},
    cluster::Cluster,
    crd,
    group_resource::GroupResource,
    log::{ObjectKey, Scope},
    resource::{Origin, Resource, Subresource},
    schema::{self, FieldError, FieldPath},
    status::{Result, StatusError},
};

/// The epoch of what no schema has completed.
const NO_EPOCH: u64 = 0;

/// What the type decides about a new object, and what is reserved for it.
pub(super) fn prepare_for_create<'c>(
    cluster: &'c Cluster,
    resource: &Resource,
    object: &mut Value,
    dry_run: bool,
) -> Result<Reservation<'c>> {
    let mut reserved = Reservation::default();
    match &resource.origin {
        Origin::BuiltIn(builtin) => {
            if is_limit_range(resource) && object["metadata"]["name"].is_null() {
                object["metadata"]["name"] = json!(cluster.ids.uid());
            }
            builtin::prepare_for_create(builtin, object);
            phase_time::set(cluster, resource, object, None);
            let needs_address = is_service(resource) && builtin::needs_cluster_ip(object);
            reserved = reserve(cluster, resource, object, (None, dry_run))?;
            if needs_address && !dry_run {
                record_address(resource, object)?;
            }
        }
        Origin::Definition => crd::prepare_for_create(object),
        Origin::Custom(_) => {
            if resource.has_status {
                remove(object, "status");
            }
        }
    }
    Ok(reserved)
}

/// What the type decides about a changed object, and what is reserved for it.
pub(super) fn prepare_for_update<'c>(
    cluster: &'c Cluster,
    resource: &Resource,
    subresource: Subresource,
    live: &Value,
    next: &mut Value,
    dry_run: bool,
) -> Result<Reservation<'c>> {
    let mut reserved = Reservation::default();
    match (&resource.origin, subresource) {
        (Origin::BuiltIn(builtin), Subresource::Finalize) => {
            builtin::prepare_for_finalize(builtin, next, live);
        }
        (Origin::BuiltIn(builtin), Subresource::Status) => {
            builtin::prepare_for_status_update(builtin, next, live);
            phase_time::set(cluster, resource, next, Some(live));
            if is_signing_request(resource) {
                certificates::prepare_status(next, live, &cluster.clock.now_text());
            }
        }
        (Origin::BuiltIn(builtin), part) if part_of(part).is_some() => {
            if let Some(part) = part_of(part) {
                let now = cluster.clock.now_text();
                builtin::prepare_for_part(builtin, part, next, live, &now);
            }
        }
        (Origin::BuiltIn(builtin), _) => {
            builtin::prepare_for_update(builtin, next, live);
            if is_signing_request(resource) {
                copy(live, next, "spec");
            }
            reserved = reserve(cluster, resource, next, (Some(live), dry_run))?;
        }
        (
            _,
            Subresource::Status
            | Subresource::Finalize
            | Subresource::Approval
            | Subresource::EphemeralContainers
            | Subresource::Resize,
        ) => keep_all_but_status(live, next),
        (Origin::Definition, _) => {
            copy(live, next, "status");
            crd::prepare_for_update(next);
        }
        (Origin::Custom(_), _) if resource.has_status => copy(live, next, "status"),
        (Origin::Custom(_), _) => {}
    }
    Ok(reserved)
}

fn keep_all_but_status(live: &Value, next: &mut Value) {
    let mut kept = live.clone();
    kept["metadata"] = next["metadata"].take();
    copy(next, &mut kept, "status");
    *next = kept;
}

/// Reserves what a Service needs beside itself.
fn reserve<'c>(
    cluster: &'c Cluster,
    resource: &Resource,
    object: &mut Value,
    (live, dry_run): (Option<&Value>, bool),
) -> Result<Reservation<'c>> {
    if !is_service(resource) {
        return Ok(Reservation::default());
    }
    validate::refuse(resource, object, &builtin::address_errors(object))?;
    validate::refuse(resource, object, &builtin::family_errors(object))?;
    let asked = Asked { live, dry_run, ranges: &ranges(cluster) };
    let refusal = match cluster.addresses.reserve(object, asked) {
        Ok(reservation) => return Ok(reservation),
        Err(refusal) => refusal,
    };
    match refusal {
        Refusal::Invalid(error) => validate::refuse(resource, object, &[error])?,
        Refusal::Internal(why) => return Err(StatusError::internal_error(&why)),
        Refusal::Twice(why) => return Err(StatusError::internal(why)),
    }
    Ok(Reservation::default())
}

/// The ranges of addresses that users have added.
fn ranges(cluster: &Cluster) -> Vec<String> {
    let resource = GroupResource::new("networking.k8s.io", "servicecidrs");
    let entries = cluster.log.entries(&resource, &Scope::All).1;
    let live = entries.into_iter().filter(|(_, object)| !object.meta.deleting);
    let ranges = live.flat_map(|(_, object)| {
        let ranges = object.value()["spec"]["cidrs"].as_array().cloned().unwrap_or_default();
        ranges.into_iter().filter_map(|range| Some(range.as_str()?.to_owned()))
    });
    ranges.collect()
}

/// The address of a Service is an object that names the Service, and so the Service has a name.
fn record_address(resource: &Resource, service: &Value) -> Result<()> {
    let name = service["metadata"]["name"].as_str().unwrap_or_default();
    let Some(address) = builtin::cluster_ip(service).filter(|_| name.is_empty()) else {
        return Ok(());
    };
    let detail = format!(
        "failed to allocate IP: IPAddress.networking.k8s.io \"{address}\" is invalid: \
         spec.parentRef.name: Required value"
    );
    let path = FieldPath::new("spec.clusterIPs");
    validate::refuse(resource, service, &[FieldError::invalid(&path, &json!([""]), detail)])
}

/// What a valid new object is warned of, or a changed one with its live form.
pub(super) fn warnings(resource: &Resource, object: &Value, live: Option<&Value>) -> Vec<String> {
    match resource.origin {
        Origin::BuiltIn(builtin) => builtin::warnings(builtin, object, live),
        Origin::Custom(_) => metadata::finalizer_warnings(object, live),
        Origin::Definition => crd::warnings(object, live),
    }
}

/// The same for a change. A status is not warned of.
pub(super) fn update_warnings(
    resource: &Resource,
    subresource: Subresource,
    live: &Value,
    next: &Value,
) -> Vec<String> {
    let is_status = subresource == Subresource::Status;
    if is_status { Vec::new() } else { warnings(resource, next, Some(live)) }
}

/// What a deletion is warned of.
pub(crate) fn warnings_of_deletion(resource: &Resource, options: &DeleteOptions) -> Vec<String> {
    match resource.origin {
        Origin::BuiltIn(builtin) if options.propagation.is_none() => {
            builtin::warnings_of_deletion(builtin).map(str::to_owned).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Makes none of the lists that are empty, which only the managers of fields tell apart.
pub(super) fn drop_empty_lists(resource: &Resource, object: &mut Value) {
    if let Origin::BuiltIn(builtin) = resource.origin {
        builtin::drop_empty_lists(builtin.root, object);
    }
}

/// The object as it is stored.
pub(super) fn to_storage(resource: &Resource, mut object: Value) -> Value {
    drop_empty_lists(resource, &mut object);
    match &resource.origin {
        _ if resource.is_stored_form() => {}
        Origin::BuiltIn(builtin) => {
            if let Some(stored) = builtin::stored_as(builtin) {
                builtin::convert(&mut object, stored);
            }
        }
        Origin::Custom(custom) => {
            let version = resource.storage_api_version();
            if let Some(converter) = &custom.converter {
                object = converter.written(object, &version);
            }
            object["apiVersion"] = json!(version);
            custom.forms.prune(&mut object);
        }
        Origin::Definition => {}
    }
    object
}

/// Under which schema a written object is what reading it gives: under none where another version is stored, whose
/// defaults it lacks.
pub(super) fn epoch(resource: &Resource) -> u64 {
    if !resource.is_custom() || resource.is_stored_form() { resource.epoch } else { NO_EPOCH }
}

/// The same for a new object, whose status, which a creation cannot set, may have defaults.
pub(super) fn epoch_of_new(resource: &Resource, object: &Value) -> u64 {
    if !resource.is_custom() || !resource.has_status {
        return epoch(resource);
    }
    let mut read = object.clone();
    schema::default(&resource.schema, &mut read);
    if read == *object { epoch(resource) } else { NO_EPOCH }
}

/// The effects of a write before it is answered.
pub(super) fn after_commit(
    cluster: &Cluster,
    resource: &Resource,
    subresource: Subresource,
    key: &ObjectKey,
) {
    // The status of a definition follows from its publication, and must not lead to another.
    if matches!(resource.origin, Origin::Definition) && subresource == Subresource::Main {
        (cluster.on_definition)(cluster, &key.name);
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
