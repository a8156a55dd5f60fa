//! Garbage collection by `metadata.ownerReferences`.
//!
//! ```text
//!  object deleted         -> its dependents are checked
//!  object with owners     -> checked: all owners absent -> deleted; some absent -> references removed
//!  foregroundDeletion     -> dependents are deleted; none left that blocks -> finalizer removed
//!  orphan                 -> references to it are removed from its dependents, then the finalizer
//! ```
//!
//! An owner is the object of that kind, name and uid in the dependent's namespace (or without
//! one); anything else counts as absent. Owners of kinds that are not served are ignored, and so are those with a
//! namespace of a dependent without one. An owner that is in another namespace is reported by an Event.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::Value;

use super::foreign_owner;
use crate::{
    cluster::Cluster,
    group_resource::GroupResource,
    log::{Meta, Object, ObjectKey, OwnerReference},
    resource::{Resource, Subresource},
    write::{self, Applied, Change, DeleteOptions, Propagation, WriteOptions},
};

/// The state of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It exists.
    Solid,
    /// It does not exist.
    Absent,
    /// It exists, and waits for its dependents to be deleted first.
    Waiting,
    /// Its kind is not served, so that its state is unknown.
    Unknown,
}

/// Checks an object with owners: deletes it, or removes references to absent owners.
///
/// `gone` are uids of objects that ended just now: absent even if their kind is not served any more.
pub(super) fn look_at(
    cluster: &Cluster,
    id: &GroupResource,
    key: &ObjectKey,
    gone: &BTreeSet<Box<str>>,
) {
    let resources = cluster.registry.snapshot();
    let Some(resource) = resources.stored(id) else { return };
    let Some(object) = cluster.log.get(id, key) else { return };
    let meta = &object.meta;
    if meta.owners.is_empty() || meta.deleting && !has(meta, write::FOREGROUND) {
        return;
    }
    let standing = |owner: &OwnerReference| {
        if gone.contains(&owner.uid) { Standing::Absent } else { standing(cluster, key, owner) }
    };
    for owner in meta.owners.iter().filter(|owner| !gone.contains(&owner.uid)) {
        foreign_owner::report(cluster, resource, (key, meta), owner);
    }
    let all = |wanted: &[Standing]| meta.owners.iter().all(|o| wanted.contains(&standing(o)));
    let any = |wanted: Standing| meta.owners.iter().any(|o| standing(o) == wanted);
    if any(Standing::Unknown) || all(&[Standing::Solid]) {
        return;
    }
    if any(Standing::Solid) {
        let gone = |owner: &OwnerReference| standing(owner) != Standing::Solid;
        drop_owners(cluster, resource, key, &gone);
    } else if !meta.deleting {
        let foreground = any(Standing::Waiting) && !cluster.log.dependents(&meta.uid).is_empty();
        delete(cluster, resource, key, &object, foreground);
    }
}

fn standing(cluster: &Cluster, dependent: &ObjectKey, owner: &OwnerReference) -> Standing {
    let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
    let resources = cluster.registry.snapshot();
    let Some(resource) = resources.by_kind(group, &owner.kind) else { return Standing::Unknown };
    if resource.namespaced && dependent.namespace.is_empty() {
        return Standing::Unknown;
    }
    let namespace = if resource.namespaced { dependent.namespace.clone() } else { "".into() };
    match cluster.log.get(&resource.storage, &ObjectKey::new(namespace, owner.name.clone())) {
        Some(found) if found.meta.uid != owner.uid => Standing::Absent,
        Some(found) if found.meta.deleting && has(&found.meta, write::FOREGROUND) => {
            Standing::Waiting
        }
        Some(_) => Standing::Solid,
        None => Standing::Absent,
    }
}

/// Continues the deletion of an object that waits for its dependents.
pub(super) fn finish(cluster: &Cluster, id: &GroupResource, key: &ObjectKey) {
    let resources = cluster.registry.snapshot();
    let Some(resource) = resources.stored(id) else { return };
    let Some(object) = cluster.log.get(id, key) else { return };
    if !object.meta.deleting {
        return;
    }
    let dependents = cluster.log.dependents(&object.meta.uid);
    if has(&object.meta, write::ORPHAN) {
        for (id, key) in &dependents {
            if let Some(resource) = resources.stored(id) {
                drop_owners(cluster, resource, key, &|owner| owner.uid == object.meta.uid);
            }
        }
        drop_finalizer(cluster, resource, key, write::ORPHAN);
    } else if has(&object.meta, write::FOREGROUND) {
        let blocks = |(id, key): &(Arc<GroupResource>, ObjectKey)| {
            blocks(cluster, id, key, &object.meta.uid)
        };
        if !dependents.iter().any(blocks) {
            drop_finalizer(cluster, resource, key, write::FOREGROUND);
        }
    }
}

fn blocks(cluster: &Cluster, id: &GroupResource, key: &ObjectKey, owner: &str) -> bool {
    let dependent = cluster.log.get(id, key);
    dependent.is_some_and(|dependent| {
        let mut owners = dependent.meta.owners.iter();
        owners.any(|o| &*o.uid == owner && o.block_owner_deletion)
    })
}

/// Whether an object waits for its dependents.
pub(super) fn waits(meta: &Meta) -> bool {
    meta.deleting && (has(meta, write::FOREGROUND) || has(meta, write::ORPHAN))
}

fn has(meta: &Meta, finalizer: &str) -> bool {
    meta.finalizers.iter().any(|f| **f == *finalizer)
}

fn delete(
    cluster: &Cluster,
    resource: &Resource,
    key: &ObjectKey,
    object: &Object,
    foreground: bool,
) {
    let propagation = match foreground {
        true => Some(Propagation::Foreground),
        // What the object's own finalizers ask for stays.
        false if has(&object.meta, write::ORPHAN) => Some(Propagation::Orphan),
        false if has(&object.meta, write::FOREGROUND) => Some(Propagation::Foreground),
        false => Some(Propagation::Background),
    };
    let options = DeleteOptions {
        uid: Some(object.meta.uid.to_string()),
        resource_version: Some(object.meta.resource_version.to_string()),
        propagation,
        ..DeleteOptions::default()
    };
    // A concurrent write is checked later.
    let _ = write::delete(cluster, resource, key, &options);
}

fn drop_owners(
    cluster: &Cluster,
    resource: &Resource,
    key: &ObjectKey,
    gone: &dyn Fn(&OwnerReference) -> bool,
) {
    change_metadata(cluster, resource, key, "ownerReferences", &|reference| {
        gone(&OwnerReference::read(reference))
    });
}

/// Removes a finalizer.
pub(super) fn drop_finalizer(
    cluster: &Cluster,
    resource: &Resource,
    key: &ObjectKey,
    finalizer: &str,
) {
    change_metadata(cluster, resource, key, "finalizers", &|found| found == finalizer);
}

/// Removes some elements of a list in `metadata`.
fn change_metadata(
    cluster: &Cluster,
    resource: &Resource,
    key: &ObjectKey,
    field: &str,
    gone: &dyn Fn(&Value) -> bool,
) {
    let mut change = |live: &Value| {
        let mut next = live.clone();
        if let Some(list) = next["metadata"].get_mut(field).and_then(Value::as_array_mut) {
            list.retain(|element| !gone(element));
            if list.is_empty() {
                write::metadata_mut(&mut next).remove(field);
            }
        }
        Ok(Change { next, managed: Applied::Yes })
    };
    let options = WriteOptions::default();
    // It may be deleted already.
    let _ = write::update(cluster, resource, key, Subresource::Main, &options, &mut change);
}
