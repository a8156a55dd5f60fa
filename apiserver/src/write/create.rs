//! Creating an object.

use std::sync::Arc;

use serde_json::Value;

use super::{WriteOptions, Written, admit, manage, metadata, strategy, validate};
use crate::{
    admission::Operation,
    cluster::Cluster,
    conversion,
    log::{Event, Expect, Object, ObjectKey, Refused, Write},
    resource::{Resource, Subresource},
    status::{Result, StatusError},
};

/// How often another name is tried when a generated one exists.
const GENERATE_NAME_TRIES: usize = 8;

/// Creates an object that is decoded; `managed` is whether `managedFields` are already those of an apply.
pub(crate) fn create(
    cluster: &Cluster,
    resource: &Resource,
    namespace: &str,
    mut object: Value,
    managed: manage::Applied,
    options: &WriteOptions,
) -> Result<Written> {
    if resource.namespaced {
        admit::within_namespace(cluster, resource, namespace, &object)?;
    }
    admit::creation(cluster, resource, &object)?;
    let mut warnings = Vec::new();
    metadata::metadata_mut(&mut object).remove("selfLink");
    if managed == manage::Applied::No {
        object = manage::track(cluster, resource, Subresource::Main, None, object, options);
    } else if !options.dry_run {
        metadata::metadata_mut(&mut object).remove("resourceVersion");
    }
    let what = (Operation::Create, None);
    admit::mutate(cluster, resource, options, what, &mut object, &mut warnings)
        .map_err(|error| error.with_warnings(&warnings))?;
    let generated = metadata::generate_name(cluster, &mut object);
    metadata::prepare_for_create(cluster, resource, namespace, &mut object);
    let tries = if generated { GENERATE_NAME_TRIES } else { 1 };
    match insert_valid(cluster, resource, &mut object, options, (tries, &mut warnings)) {
        Ok(object) => Ok(Written { object, warnings, created: true }),
        Err(error) => Err(error.with_warnings(&warnings)),
    }
}

/// Inserts the object if it is valid; what the type warns of is added to the warnings.
fn insert_valid(
    cluster: &Cluster,
    resource: &Resource,
    object: &mut Value,
    options: &WriteOptions,
    (tries, warnings): (usize, &mut Vec<String>),
) -> Result<Arc<Object>> {
    let reserved = strategy::prepare_for_create(cluster, resource, object, options.dry_run)?;
    let inserted = validate::validate_create(resource, object).and_then(|()| {
        warnings.extend(strategy::warnings(resource, object, None));
        admit::validate(cluster, options, (Operation::Create, None), object, warnings)?;
        insert_named(cluster, resource, object, options, tries)
    });
    if inserted.is_ok() {
        reserved.keep();
    }
    inserted
}

/// Inserts the object, with another generated name if one exists.
fn insert_named(
    cluster: &Cluster,
    resource: &Resource,
    object: &mut Value,
    options: &WriteOptions,
    mut tries: usize,
) -> Result<Arc<Object>> {
    loop {
        match insert(cluster, resource, object, options) {
            Err(_) if tries > 1 => {
                tries -= 1;
                metadata::metadata_mut(object).remove("name");
                metadata::generate_name(cluster, object);
            }
            Err(taken) if !object["metadata"]["generateName"].is_null() => {
                return Err(taken.of_generated_name());
            }
            outcome => return outcome,
        }
    }
}

fn insert(
    cluster: &Cluster,
    resource: &Resource,
    object: &Value,
    options: &WriteOptions,
) -> Result<Arc<Object>> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
    let key = ObjectKey::new(namespace, name);
    let taken = |found: Option<&Object>| match found {
        Some(found) if found.meta.deleting => StatusError::being_deleted(&resource.id, name),
        _ => StatusError::already_exists(&resource.id, name),
    };
    let epoch = strategy::epoch_of_new(resource, object);
    let value = strategy::to_storage(resource, object.clone());
    if options.dry_run {
        return match cluster.log.get(&resource.storage, &key) {
            Some(found) => Err(taken(Some(&found))),
            None => Ok(Arc::new(Object::encode(Event::Added, &value, epoch))),
        };
    }
    // Only what keeps objects minds a version: a dry run does not.
    if metadata::given_version(object)?.is_some() {
        let why = "resourceVersion should not be set on objects to be created";
        return Err(StatusError::internal(why));
    }
    conversion::check().map_err(StatusError::internal)?;
    let write = Write {
        resource: &resource.storage,
        key: key.clone(),
        expect: Expect::Absent,
        delete: false,
        value,
        epoch,
    };
    let object = cluster.log.commit(write).map_err(|refused| match refused {
        Refused::Outrun(found) => taken(found.as_deref()),
        Refused::TooLarge(why) => StatusError::internal(why),
    })?;
    strategy::after_commit(cluster, resource, Subresource::Main, &key);
    Ok(object)
}
