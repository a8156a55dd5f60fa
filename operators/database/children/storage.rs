//! The volumes: a claim for each replica, and one for the backups.
//!
//! The claims are children of the database and not left to the controller of the `StatefulSet`, which
//! makes them and never changes them: so a volume can grow.

use serde_json::{Value, json};

use super::names;
use crate::database::crd::{Database, DeletionPolicy, Storage};

/// The volume in the Pods of the set, and the first part of the names of its claims.
pub(super) const DATA: &str = "data";

/// The claims of the replicas that should exist.
pub(in crate::database) fn claims(database: &Database) -> Vec<Value> {
    let named = (0..database.spec.replicas).map(|ordinal| names::claim(database, ordinal));
    named.map(|name| claim(database, &name)).collect()
}

/// The claim of the backups of this database.
pub(in crate::database) fn backups(database: &Database) -> Value {
    let name = names::backups(&names::primary(database));
    let mut claim = claim(database, &name);
    if let Some(size) = database.spec.backup.as_ref().and_then(|backup| backup.size.as_ref()) {
        claim["spec"]["resources"]["requests"]["storage"] = json!(size);
    }
    claim
}

/// The template of the set, which must match the claims.
pub(super) fn template(storage: &Storage) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": DATA}, "spec": spec(storage),
    })
}

/// A claim of the size of the data.
pub(in crate::database) fn claim(database: &Database, name: &str) -> Value {
    let mut claim = with_spec(database, name, &spec(&database.spec.storage));
    if is_held(database, name) {
        claim["metadata"]["finalizers"] = json!([names::HELD]);
    }
    claim
}

/// A claim that exists, as it is and no longer held.
pub(in crate::database) fn released(database: &Database, name: &str, spec: &Value) -> Value {
    with_spec(database, name, spec)
}

/// Whether a last backup needs the claim, and one is asked for.
pub(in crate::database) fn is_held(database: &Database, name: &str) -> bool {
    database.spec.deletion_policy == DeletionPolicy::Backup
        && needed(database).iter().any(|needed| needed == name)
}

/// The claims without which no last backup can be made: that of the primary, and that of the backups.
pub(in crate::database) fn needed(database: &Database) -> [String; 2] {
    [names::claim(database, 0), names::backups(&names::primary(database))]
}

fn with_spec(database: &Database, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": names::metadata(database, name), "spec": spec,
    })
}

/// A claim of the storage.
pub(super) fn spec(storage: &Storage) -> Value {
    let mut spec = json!({
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": storage.size}},
    });
    if let Some(class) = &storage.storage_class_name {
        spec["storageClassName"] = json!(class);
    }
    spec
}
