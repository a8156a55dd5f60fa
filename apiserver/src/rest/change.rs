//! Create, update and patch.

use std::sync::Arc;

use http::Response;
use serde_json::Value;

use super::{body::Body, call::Call, decode, kind, patch::Patch, reply, tree::Tree};
use crate::{
    cluster::Cluster,
    resource::Resource,
    status::StatusError,
    write::{self, Applied, Change, FieldValidation, Subresource, WriteOptions, Written},
};

/// How often a write that creates is retried as an update, and vice versa.
const TRIES: usize = 5;

/// Answers a create.
pub(super) fn create(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let mut options = call.write_options()?;
    let Tree { value: mut object, duplicates } =
        decode::object(call.resource, call.content_type(), call.body)?;
    options.complaints = duplicates.complaints();
    let namespace = call.path.namespace.as_deref();
    decode::check_place(namespace, None, &object)?;
    decode::place(call.resource, namespace, None, &mut object);
    write::given_version(&object)?;
    let namespace = namespace.unwrap_or_default();
    let written = write::create(cluster, call.resource, namespace, object, Applied::No, &options)?;
    reply::written(call, &written)
}

/// Answers an update (PUT).
pub(super) fn update(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let mut options = call.write_options()?;
    let Tree { value: mut object, duplicates } =
        decode::object(call.resource, call.content_type(), call.body)?;
    options.complaints = duplicates.complaints();
    let (namespace, name) = (call.path.namespace.as_deref(), call.path.name.as_deref());
    decode::check_place(namespace, name, &object)?;
    decode::place(call.resource, namespace, name, &mut object);
    let mut change = |live: &Value| {
        check_uid(call, live, &object)?;
        Ok(Change { next: object.clone(), managed: Applied::No })
    };
    let creates = call.subresource == Subresource::Main && write::creates_on_update(call.resource);
    for _ in 0..TRIES {
        let exists = cluster.log.get(&call.resource.storage, &call.key()).is_some();
        let outcome = if exists || !creates {
            change_existing(cluster, call, &options, &mut change)
        } else {
            check_uid(call, &Value::Null, &object)?;
            let (namespace, mut new) = (namespace.unwrap_or_default(), object.clone());
            // Of an object that does not exist any version is accepted.
            write::metadata_mut(&mut new).remove("resourceVersion");
            write::create(cluster, call.resource, namespace, new, Applied::No, &options)
        };
        match outcome {
            Err(error) if creates && has_raced(&error, exists) => {}
            outcome => return reply::written(call, &outcome?),
        }
    }
    Err(StatusError::modified(&call.resource.id, &call.key().name))
}

/// Whether the object was created or deleted between the read and the write.
fn has_raced(error: &StatusError, existed: bool) -> bool {
    error.reason == if existed { "NotFound" } else { "AlreadyExists" }
}

fn check_uid(call: &Call<'_>, live: &Value, given: &Value) -> Result<(), StatusError> {
    let uid = |object: &Value| object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
    let (given, found, key) = (uid(given), uid(live), call.key());
    if given.is_empty() || given == found {
        return Ok(());
    }
    let id = &call.resource.id;
    let group = if id.group.is_empty() { String::new() } else { format!("{}/", id.group) };
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{group}{}/{}, ResourceVersion: 0, \
         AdditionalErrorMsg: Precondition failed: UID in precondition: {given}, \
         UID in object meta: {found}",
        id.plural,
        [&*key.namespace, &*key.name].join("/").trim_start_matches('/'),
    );
    Err(StatusError::conflict(id, &key.name, &why))
}

/// Answers a patch.
pub(super) fn patch(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let mut options = call.write_options()?;
    options.patched = true;
    let (patch, complaints) = Patch::of(call)?;
    options.complaints = complaints;
    if let Patch::Apply(_) = patch {
        refuse_strictly(&mut options)?;
    }
    let written = if let Patch::Apply(applied) = &patch {
        apply(cluster, call, applied, &options)?
    } else {
        let mut change = |live: &Value| {
            let next = patch.applied_to(live)?;
            Ok(Change { next: checked(call, next)?, managed: Applied::No })
        };
        change_existing(cluster, call, &options, &mut change)?
    };
    reply::written(call, &written)
}

/// An apply is refused for its text before anything else, and in other words.
fn refuse_strictly(options: &mut WriteOptions) -> Result<(), StatusError> {
    let refusals = std::mem::take(&mut options.complaints.refusals);
    if options.validation != FieldValidation::Strict || refusals.is_empty() {
        return Ok(());
    }
    let list = refusals.join(", ");
    let message = format!("error strict decoding YAML: error converting YAML to JSON: {list}");
    Err(StatusError::bad_request(message))
}

/// Server-side apply: updates an existing object or creates it.
fn apply(
    cluster: &Cluster,
    call: &Call<'_>,
    applied: &Value,
    options: &WriteOptions,
) -> Result<Written, StatusError> {
    check_applied_type(call, applied)?;
    let force = call.query.flag("force");
    let key = call.key();
    let result = |live: Option<&Value>| -> Result<Value, StatusError> {
        let (resource, subresource) = (call.resource, call.subresource);
        let next =
            write::apply_request(cluster, resource, subresource, live, applied, force, options)?;
        checked(call, next)
    };
    for _ in 0..TRIES {
        let mut change =
            |live: &Value| Ok(Change { next: result(Some(live))?, managed: Applied::Yes });
        let exists = cluster.log.get(&call.resource.storage, &key).is_some();
        let outcome = if exists || call.subresource != Subresource::Main {
            change_existing(cluster, call, options, &mut change)
        } else {
            create_applied(cluster, call, applied, options, &result)
        };
        match outcome {
            Err(error) if has_raced(&error, exists) => {}
            outcome => return outcome,
        }
    }
    Err(StatusError::modified(&call.resource.id, &key.name))
}

fn check_applied_type(call: &Call<'_>, applied: &Value) -> Result<(), StatusError> {
    let given = |field: &str| applied[field].as_str().unwrap_or_default();
    let (version, kind) = (given("apiVersion"), given("kind"));
    if version == call.resource.api_version() && kind == call.resource.kind {
        return Ok(());
    }
    let version = if version.contains('/') { version.to_owned() } else { format!("/{version}") };
    Err(StatusError::bad_request(format!("invalid object type: {version}, Kind={kind}")))
}

fn create_applied(
    cluster: &Cluster,
    call: &Call<'_>,
    applied: &Value,
    options: &WriteOptions,
    result: &dyn Fn(Option<&Value>) -> Result<Value, StatusError>,
) -> Result<Written, StatusError> {
    let object = result(None)?;
    if let Some(uid) = applied["metadata"]["uid"].as_str().filter(|uid| !uid.is_empty()) {
        let why = format!(
            "uid mismatch: the provided object specified uid {uid}, \
             and no existing object was found"
        );
        return Err(StatusError::conflict(&call.resource.id, &call.key().name, &why));
    }
    write::given_version(&object)?;
    let namespace = call.path.namespace.as_deref().unwrap_or_default();
    write::create(cluster, call.resource, namespace, object, Applied::Yes, options)
}

/// The result of a patch, if it is still the object that the path names.
fn checked(call: &Call<'_>, mut next: Value) -> Result<Value, StatusError> {
    let (namespace, name) = (call.path.namespace.as_deref(), call.path.name.as_deref());
    let is_ignored = call.resource.is_custom() && call.subresource == Subresource::Status;
    if !is_ignored || !next.is_object() {
        kind::check_patched(call.resource, &next)?;
    }
    decode::check_place(namespace, name, &next)?;
    decode::place(call.resource, namespace, name, &mut next);
    Ok(next)
}

fn change_existing(
    cluster: &Cluster,
    call: &Call<'_>,
    options: &WriteOptions,
    change: &mut dyn FnMut(&Value) -> Result<Change, StatusError>,
) -> Result<Written, StatusError> {
    let resource: &Arc<Resource> = call.resource;
    write::update(cluster, resource, &call.key(), call.subresource, options, change)
}
