//! Changes an object, and deletes it when the change removes the last finalizer.

use std::sync::Arc;

use serde_json::Value;

use super::{
    WriteOptions, Written, admit, generation, grace, manage, metadata, peculiar, strategy, validate,
};
use crate::{
    addresses::Reservation,
    admission::Operation,
    apply::ignore_timestamps,
    cluster::Cluster,
    conversion,
    log::{Event, Expect, Object, ObjectKey, Refused, Write},
    resource::{Resource, Subresource},
    status::{Result, StatusError},
};

/// How often a change is computed again after a concurrent write.
const TRIES: usize = 5;

/// The next state, as the change computed it.
#[derive(Debug)]
pub(crate) struct Change {
    /// The whole object, decoded.
    pub next: Value,
    /// Whether its `managedFields` are already those of an apply.
    pub managed: manage::Applied,
}

/// Changes an object. `change` gets the live object, and is called again on a newer one after a concurrent
/// write; preconditions within it are checked each time.
pub(crate) fn update(
    cluster: &Cluster,
    resource: &Resource,
    key: &ObjectKey,
    subresource: Subresource,
    options: &WriteOptions,
    change: &mut dyn FnMut(&Value) -> Result<Change>,
) -> Result<Written> {
    for _ in 0..TRIES {
        let Some((object, live)) = cluster.read(resource, key) else {
            return Err(StatusError::not_found(&resource.id, &key.name));
        };
        let change = change(&live)?;
        if change.next == live && options.has_no_admission() && is_as_read(resource, &object) {
            // What is stored is normalised and valid already.
            let warnings = strategy::update_warnings(resource, subresource, &live, &live);
            return Ok(Written { object, warnings, created: false });
        }
        let (next, warnings, reserved) =
            next_state(cluster, resource, subresource, &live, change, options)?;
        let (ends, same) = (ends(resource, &next), next == live);
        let next = strategy::to_storage(resource, next);
        let is_stored = if is_as_read(resource, &object) { same } else { next == object.value() };
        if is_stored {
            return Ok(Written { object, warnings, created: false });
        }
        // An object that the update deletes is answered with its previous version.
        let last = ends
            .then(|| Arc::new(Object::encode(Event::Deleted, &next, strategy::epoch(resource))));
        let end = ends && !options.dry_run;
        if let Some(object) = store(cluster, resource, key, &object, (next, end), options)? {
            if !options.dry_run {
                reserved.keep();
                if peculiar::is_service(resource) {
                    let next = last.is_none().then(|| object.value());
                    cluster.addresses.release(&live, next.as_ref());
                }
                strategy::after_commit(cluster, resource, subresource, key);
            }
            let object = last.unwrap_or(object);
            return Ok(Written { object, warnings, created: false });
        }
    }
    Err(StatusError::modified(&resource.id, &key.name))
}

/// The next state, what is warned of, and what is reserved for it.
fn next_state<'c>(
    cluster: &'c Cluster,
    resource: &Resource,
    subresource: Subresource,
    live: &Value,
    change: Change,
    options: &WriteOptions,
) -> Result<(Value, Vec<String>, Reservation<'c>)> {
    let Change { mut next, managed } = change;
    let mut warnings = Vec::new();
    let what = (Operation::Update, Some(live));
    if managed == manage::Applied::No {
        next = manage::track(cluster, resource, subresource, Some(live), next, options);
    }
    let reserved = admit::mutate(cluster, resource, options, what, &mut next, &mut warnings)
        .and_then(|()| {
            prepare_and_validate(cluster, resource, subresource, live, &mut next, options)
        })
        .map_err(|error| error.with_warnings(&warnings))?;
    warnings.extend(strategy::update_warnings(resource, subresource, live, &next));
    strategy::drop_empty_lists(resource, &mut next);
    let next = ignore_timestamps(live, next);
    admit::validate(cluster, options, what, &next, &mut warnings)
        .map_err(|error| error.with_warnings(&warnings))?;
    Ok((next, warnings, reserved))
}

fn prepare_and_validate<'c>(
    cluster: &'c Cluster,
    resource: &Resource,
    subresource: Subresource,
    live: &Value,
    next: &mut Value,
    options: &WriteOptions,
) -> Result<Reservation<'c>> {
    let dry_run = options.dry_run;
    metadata::prepare_for_update(resource, subresource, live, next, dry_run)?;
    let reserved =
        strategy::prepare_for_update(cluster, resource, subresource, live, next, dry_run)?;
    generation::carry_over(resource, live, next);
    validate::validate_update(resource, subresource, live, next)?;
    Ok(reserved)
}

/// Whether an equal object is an equal stored form. A custom object that was stored in another version, or without defaults
/// that it has now, is stored again by an update that changes nothing, which is how stored versions are migrated.
fn is_as_read(resource: &Resource, stored: &Object) -> bool {
    !resource.is_custom() || resource.fits(stored)
}

/// Commits the next stored form; `None` after a concurrent write.
fn store(
    cluster: &Cluster,
    resource: &Resource,
    key: &ObjectKey,
    live: &Object,
    (next, delete): (Value, bool),
    options: &WriteOptions,
) -> Result<Option<Arc<Object>>> {
    // What ends is never stored: watchers see its last state.
    let value = if delete { live.value() } else { next };
    if options.dry_run {
        return Ok(Some(Arc::new(Object::encode(
            Event::Modified,
            &value,
            strategy::epoch(resource),
        ))));
    }
    conversion::check().map_err(StatusError::internal)?;
    let write = Write {
        resource: &resource.storage,
        key: key.clone(),
        expect: Expect::Version(live.meta.resource_version),
        delete,
        value,
        epoch: strategy::epoch(resource),
    };
    match cluster.log.commit(write) {
        Ok(object) => Ok(Some(object)),
        Err(Refused::Outrun(_)) => Ok(None),
        Err(Refused::TooLarge(why)) => Err(StatusError::internal(why)),
    }
}

/// Whether a deleted object has no finalizers left.
fn ends(resource: &Resource, next: &Value) -> bool {
    let empty = |list: &Value| list.as_array().is_none_or(Vec::is_empty);
    !next["metadata"]["deletionTimestamp"].is_null()
        && empty(&next["metadata"]["finalizers"])
        && !grace::is_left(next)
        && !peculiar::is_held_namespace(resource, next)
}
