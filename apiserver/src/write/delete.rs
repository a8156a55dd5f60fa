//! Deleting an object: at once, or by marking it while finalizers hold it.
//!
//! Only finalizers delay a deletion, and that of a simulated Pod its grace period.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{DeleteOptions, Propagation, admit, grace, metadata, peculiar, strategy};
use crate::{
    cluster::Cluster,
    conversion, crd,
    group_resource::GroupResource,
    log::{Event, Expect, Object, ObjectKey, Refused, Write},
    resource::{Resource, Subresource},
    status::{Result, StatusError},
};

/// Held while dependents that block the deletion of their owner exist.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// Held while dependents still name their owner.
pub(crate) const ORPHAN: &str = "orphan";

/// The result of a delete.
#[derive(Debug)]
pub(crate) enum Deleted {
    /// The object was deleted; this was its last state.
    Gone(Arc<Object>),
    /// Finalizers hold the object.
    Held(Arc<Object>),
}

/// Deletes an object.
pub(crate) fn delete(
    cluster: &Cluster,
    resource: &Resource,
    key: &ObjectKey,
    options: &DeleteOptions,
) -> Result<Deleted> {
    let mut options = options.clone();
    loop {
        let Some((live, mut value)) = cluster.read(resource, key) else {
            return Err(StatusError::not_found(&resource.id, &key.name));
        };
        if options.only_unreadable {
            return Err(readable(resource, key, &live));
        }
        admit::deletion(resource, &key.name)?;
        check_preconditions(resource, key, &live, &options)?;
        admit::delete(cluster, &options, &value)?;
        let grace = grace::seconds(cluster, resource, &value, &options);
        let is_marked = !value["metadata"]["deletionTimestamp"].is_null();
        let is_marking = peculiar::is_definition(resource) && !is_marked;
        let held =
            is_marking || set_finalizers(resource, &mut value, options.propagation) || grace > 0;
        // A Pod is marked before it goes, even where nothing holds it.
        let marks_first = !held && !is_marked && peculiar::deletes_gracefully(resource);
        if is_marking {
            crd::mark_deleted(&mut value, &cluster.clock.now_text());
        } else if held || marks_first {
            mark(cluster, resource, &mut value, grace);
            if held && value["metadata"] == live.value()["metadata"] {
                return Ok(Deleted::Held(live));
            }
        }
        if options.dry_run {
            let marked =
                || Arc::new(Object::encode(Event::Modified, &value, strategy::epoch(resource)));
            return Ok(match (held, marks_first) {
                (true, _) => Deleted::Held(marked()),
                (false, true) => Deleted::Gone(marked()),
                (false, false) => Deleted::Gone(live),
            });
        }
        let write = Write {
            resource: &resource.storage,
            key: key.clone(),
            expect: Expect::Version(live.meta.resource_version),
            delete: !held && !marks_first,
            value: strategy::to_storage(resource, value),
            epoch: strategy::epoch(resource),
        };
        conversion::check().map_err(StatusError::internal)?;
        match cluster.log.commit(write) {
            // It has another version now, and was admitted.
            Ok(_) if marks_first => {
                options.resource_version = None;
                options.admission = None;
            }
            Ok(object) => {
                if !held && peculiar::is_service(resource) {
                    cluster.addresses.release(&live.value(), None);
                }
                strategy::after_commit(cluster, resource, Subresource::Main, key);
                return Ok(if held { Deleted::Held(object) } else { Deleted::Gone(object) });
            }
            Err(Refused::Outrun(_)) => {}
            Err(Refused::TooLarge(why)) => return Err(StatusError::internal(why)),
        }
    }
}

/// What is stored here can always be read.
fn readable(resource: &Resource, key: &ObjectKey, live: &Object) -> StatusError {
    let path = [&*peculiar::storage_prefix(resource), &key.namespace, &key.name];
    let path: Vec<&str> = path.into_iter().filter(|part| !part.is_empty()).collect();
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{}, ResourceVersion: {}, \
         AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage",
        path.join("/"),
        live.meta.resource_version,
    );
    StatusError::conflict(&resource.id, &key.name, &why)
}

fn check_preconditions(
    resource: &Resource,
    key: &ObjectKey,
    live: &Object,
    options: &DeleteOptions,
) -> Result<()> {
    if peculiar::is_namespace(resource) || peculiar::is_definition(resource) {
        return check_namespace(resource, key, live, options);
    }
    // The real server names the kind here, not the resource.
    let kind = GroupResource::new(resource.id.group.as_str(), resource.kind.as_str());
    let conflict = |why: String| Err(StatusError::conflict(&kind, &key.name, &why));
    let found = &*live.meta.uid;
    if let Some(uid) = options.uid.as_ref().filter(|uid| **uid != *found) {
        return conflict(format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({found}). \
             The object might have been deleted and then recreated"
        ));
    }
    let found = live.meta.resource_version.to_string();
    if let Some(version) = options.resource_version.as_ref().filter(|version| **version != found) {
        return conflict(format!(
            "the ResourceVersion in the precondition ({version}) does not match \
             the ResourceVersion in record ({found}). The object might have been modified"
        ));
    }
    Ok(())
}

/// Namespaces and definitions have stores of their own, with other words.
fn check_namespace(
    resource: &Resource,
    key: &ObjectKey,
    live: &Object,
    options: &DeleteOptions,
) -> Result<()> {
    let check = |what: &str, wanted: &Option<String>, found: &str| match wanted {
        Some(wanted) if wanted != found => {
            let why = format!(
                "Precondition failed: {what} in precondition: {wanted}, \
                 {what} in object meta: {found}"
            );
            Err(StatusError::conflict(&resource.id, &key.name, &why))
        }
        _ => Ok(()),
    };
    check("UID", &options.uid, &live.meta.uid)?;
    let version = live.meta.resource_version.to_string();
    check("ResourceVersion", &options.resource_version, &version)
}

/// Adds or removes the finalizers of a propagation policy; returns whether any remains.
fn set_finalizers(
    resource: &Resource,
    value: &mut Value,
    propagation: Option<Propagation>,
) -> bool {
    let given: Vec<String> =
        serde_json::from_value(value["metadata"]["finalizers"].clone()).unwrap_or_default();
    let has = |name: &str| given.iter().any(|f| f == name);
    let propagation = propagation.unwrap_or_else(|| match (has(ORPHAN), has(FOREGROUND)) {
        (true, _) => Propagation::Orphan,
        (_, true) => Propagation::Foreground,
        _ => peculiar::default_propagation(resource),
    });
    let mut finalizers: Vec<String> =
        given.iter().filter(|f| *f != ORPHAN && *f != FOREGROUND).cloned().collect();
    match propagation {
        Propagation::Background => {}
        Propagation::Foreground => finalizers.push(FOREGROUND.to_owned()),
        Propagation::Orphan => finalizers.push(ORPHAN.to_owned()),
    }
    let held = !finalizers.is_empty() || peculiar::is_held_namespace(resource, value);
    if finalizers.is_empty() {
        metadata::metadata_mut(value).remove("finalizers");
    } else {
        value["metadata"]["finalizers"] = json!(finalizers);
    }
    held
}

/// Marks an object as being deleted.
fn mark(cluster: &Cluster, resource: &Resource, value: &mut Value, grace: i64) {
    if !value["metadata"]["deletionTimestamp"].is_null() {
        return grace::shorten(value, grace);
    }
    value["metadata"]["deletionTimestamp"] = json!(grace::deadline(cluster, grace));
    value["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
    if peculiar::is_namespace(resource) {
        value["status"]["phase"] = json!("Terminating");
        metadata::metadata_mut(value).remove("deletionGracePeriodSeconds");
    }
    if let Some(generation) = value["metadata"]["generation"].as_i64().filter(|g| *g > 0) {
        value["metadata"]["generation"] = json!(generation + 1);
    }
}
