//! Create, update and patch.

use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use serde_json::Value;

use super::{
    body::Body,
    call::Call,
    decode, kind,
    patch::{self, Patch},
    place, reply,
};
use crate::{
    apply::is_same,
    certificates,
    cluster::Cluster,
    resource::{Resource, Subresource},
    status::StatusError,
    write::{
        self, Applied, Change, Complaints, FieldValidation, Undecodable, WriteOptions, Written,
    },
};

/// How often a write that creates is retried as an update, and vice versa.
const TRIES: usize = 5;

/// Answers a create.
pub(super) fn create(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let options = call.write_options()?;
    let (mut object, warnings) = decode::object(call, options.validation)?;
    let create = |object| {
        write::given_version(&object)?;
        create_new(cluster, call, object, Applied::No, &options)
    };
    certificates::identify(call.writer.user, call.resource, &mut object);
    write::drop_system_fields(&mut object);
    let answered = create(object).and_then(|written| reply::written(call, &written));
    reply::warned(answered, &warnings)
}

/// Answers an update (PUT).
pub(super) fn update(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    let options = call.write_options()?;
    let (object, warnings) = decode::object(call, options.validation)?;
    let answered = replace(cluster, call, &object, &options);
    reply::warned(answered.and_then(|written| reply::written(call, &written)), &warnings)
}

/// Replaces an object, or creates it where its type allows that.
fn replace(
    cluster: &Cluster,
    call: &Call<'_>,
    object: &Value,
    options: &WriteOptions,
) -> Result<Written, StatusError> {
    let mut change = |live: &Value| {
        check_uid(call, options, live, object)?;
        Ok(Change { next: object.clone(), managed: Applied::No })
    };
    let creates = call.subresource == Subresource::Main && write::creates_on_update(call.resource);
    for _ in 0..TRIES {
        let exists = cluster.log.get(&call.resource.storage, &call.key()).is_some();
        let outcome = if exists || !creates {
            change_existing(cluster, call, options, &mut change)
        } else {
            check_uid(call, options, &Value::Null, object)?;
            write::given_version(object)?;
            let mut new = object.clone();
            // Of an object that does not exist any version is accepted. A dry run stores nothing, and shows it.
            if !options.dry_run {
                write::metadata_mut(&mut new).remove("resourceVersion");
            }
            create_new(cluster, call, new, Applied::No, options)
        };
        match outcome {
            Err(error) if creates && has_raced(&error, exists) => {}
            outcome => return outcome,
        }
    }
    Err(StatusError::modified(&call.resource.id, &call.key().name))
}

/// Whether the object was created or deleted between the read and the write.
fn has_raced(error: &StatusError, existed: bool) -> bool {
    error.reason == if existed { "NotFound" } else { "AlreadyExists" }
}

/// Refuses an object of another uid.
pub(super) fn check_uid(
    call: &Call<'_>,
    options: &WriteOptions,
    live: &Value,
    given: &Value,
) -> Result<(), StatusError> {
    let uid = |object: &Value| object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
    let (given, found, key) = (uid(given), uid(live), call.key());
    if given.is_empty() || given == found {
        return Ok(());
    }
    // A dry run does not get as far as the store that adds the first part of the key.
    let root = if options.dry_run { "" } else { "/registry" };
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {root}/{}/{}, ResourceVersion: 0, \
         AdditionalErrorMsg: Precondition failed: UID in precondition: {given}, \
         UID in object meta: {found}",
        write::storage_prefix(call.resource),
        [&*key.namespace, &*key.name].join("/").trim_start_matches('/'),
    );
    Err(StatusError::conflict(&call.resource.id, &key.name, &why))
}

/// Answers a patch.
pub(super) fn patch(cluster: &Cluster, call: &Call<'_>) -> Result<Response<Body>, StatusError> {
    Patch::check(call)?;
    let options = call.write_options()?;
    let patch = Patch::of(call, options.validation)?;
    let mut warnings = Vec::new();
    let written = if let Patch::Apply(body) = &patch {
        apply(cluster, call, body, &options, &mut warnings)
    } else {
        let mut change = |live: &Value| {
            let (next, complaints) = patch.applied_to(live)?;
            let (next, complained) = decoded(call, next, options.validation, complaints)?;
            warnings = complained;
            Ok(Change { next: placed(call, next)?, managed: Applied::No })
        };
        change_existing(cluster, call, &options, &mut change)
    };
    reply::warned(written.and_then(|written| reply::written(call, &written)), &warnings)
}

/// Server-side apply: updates an existing object or creates it.
fn apply(
    cluster: &Cluster,
    call: &Call<'_>,
    body: &Bytes,
    options: &WriteOptions,
    warnings: &mut Vec<String>,
) -> Result<Written, StatusError> {
    let (applied, complaints) = patch::applied(body)?;
    check_applied_type(call, &applied)?;
    let force = call.query.flag("force");
    let result = |live: Option<&Value>| -> Result<Value, StatusError> {
        let (resource, subresource) = (call.resource, call.subresource);
        let mut next =
            write::apply_request(cluster, resource, subresource, live, &applied, force, options)?;
        refuse_strictly(options, &complaints)?;
        if live.is_none_or(|live| !is_same(live, &next)) {
            write::complete_applied(resource, &mut next)
                .map_err(|why| StatusError::internal(write::unconvertible(&applied, &why)))?;
        }
        Ok(next)
    };
    if options.validation == FieldValidation::Warn {
        warnings.extend(complaints.refusals.iter().map(|why| in_yaml(why)));
    }
    for _ in 0..TRIES {
        let mut change = |live: &Value| {
            Ok(Change { next: placed(call, result(Some(live))?)?, managed: Applied::Yes })
        };
        let exists = cluster.log.get(&call.resource.storage, &call.key()).is_some();
        let outcome = if exists || call.subresource != Subresource::Main {
            change_existing(cluster, call, options, &mut change)
        } else {
            create_applied(cluster, call, result(None)?, options)
        };
        match outcome {
            Err(error) if has_raced(&error, exists) => {}
            outcome => return outcome,
        }
    }
    Err(StatusError::modified(&call.resource.id, &call.key().name))
}

/// An apply is refused for its text after everything else, and in other words.
fn refuse_strictly(options: &WriteOptions, complaints: &Complaints) -> Result<(), StatusError> {
    let refusals = &complaints.refusals;
    if options.validation != FieldValidation::Strict || refusals.is_empty() {
        return Ok(());
    }
    let list = in_yaml(&refusals.join(", "));
    Err(StatusError::bad_request(format!("error strict decoding patch: {list}")))
}

fn in_yaml(why: &str) -> String {
    format!("error converting YAML to JSON: {why}")
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
    object: Value,
    options: &WriteOptions,
) -> Result<Written, StatusError> {
    if let Some(uid) = object["metadata"]["uid"].as_str().filter(|uid| !uid.is_empty()) {
        let why = format!(
            "uid mismatch: the provided object specified uid {uid}, \
             and no existing object was found"
        );
        return Err(StatusError::conflict(&call.resource.id, &call.key().name, &why));
    }
    let mut object = placed(call, object)?;
    certificates::identify(call.writer.user, call.resource, &mut object);
    write::given_version(&object)?;
    create_new(cluster, call, object, Applied::Yes, options)
}

/// The result of a patch as an object of its type, and what to warn of.
fn decoded(
    call: &Call<'_>,
    mut next: Value,
    validation: FieldValidation,
    complaints: Complaints,
) -> Result<(Value, Vec<String>), StatusError> {
    kind::check_patched(call.resource, &next)?;
    let sent = next.clone();
    match write::decode(call.resource, &mut next, validation, complaints) {
        Ok(warnings) => Ok((next, warnings)),
        Err(Undecodable::Because(why)) => Err(kind::unreadable(&sent, &why)),
        Err(error @ Undecodable::TooLarge) => Err(StatusError::internal(error.to_string())),
    }
}

/// The result of a patch, if it is still the object that the path names.
fn placed(call: &Call<'_>, mut next: Value) -> Result<Value, StatusError> {
    let (namespace, name) = (call.path.namespace.as_deref(), call.path.name.as_deref());
    place::check(namespace, name, &next)?;
    place::fill(call.resource, namespace, name, &mut next);
    Ok(next)
}

/// Creates an object, if the user may create it and give the rights that it gives.
fn create_new(
    cluster: &Cluster,
    call: &Call<'_>,
    object: Value,
    managed: Applied,
    options: &WriteOptions,
) -> Result<Written, StatusError> {
    call.check_rights(None, &object)?;
    call.check_creation()?;
    let namespace = call.path.namespace.as_deref().unwrap_or_default();
    write::create(cluster, call.resource, namespace, object, managed, options)
}

/// Changes an object, if the user may give the rights that it then gives.
fn change_existing(
    cluster: &Cluster,
    call: &Call<'_>,
    options: &WriteOptions,
    change: &mut dyn FnMut(&Value) -> Result<Change, StatusError>,
) -> Result<Written, StatusError> {
    let resource: &Arc<Resource> = call.resource;
    let mut permitted = |live: &Value| {
        let change = change(live)?;
        call.check_rights(Some(live), &change.next)?;
        Ok(change)
    };
    write::update(cluster, resource, &call.key(), call.subresource, options, &mut permitted)
}
