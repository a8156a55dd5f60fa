//! The volumes: a claim for each replica, and one for the backups.
//!
//! The claims are children of the database and not left to the controller of the `StatefulSet`, which
//! makes them and never changes them: so a volume can grow.

use serde_json::{Value, json};

use super::names;
use crate::database::crd::{Database, Storage};

/// The volume in the Pods of the set, and the first part of the names of its claims.
pub(super) const DATA: &str = "data";

/// The claims of the replicas that should exist.
pub(in crate::database) fn claims(database: &Database) -> Vec<Value> {
    let named = (0..database.spec.replicas).map(|ordinal| names::claim(database, ordinal));
    named.map(|name| claim(database, &name)).collect()
}

/// The claim of the backups of this database.
pub(in crate::database) fn backups(database: &Database) -> Value {
    claim(database, &names::backups(&names::primary(database)))
}

/// The template of the set, which must match the claims.
pub(super) fn template(storage: &Storage) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": DATA}, "spec": spec(storage),
    })
}

/// A claim of the size that the database asks for.
pub(in crate::database) fn claim(database: &Database, name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": names::metadata(database, name), "spec": spec(&database.spec.storage),
    })
}

/// A claim of the storage.
pub(super) fn spec(storage: &Storage) -> Value {
    let mut spec = json!({
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": storage.size}},
    });
    if let Some(class) = &storage.class {
        spec["storageClassName"] = json!(class);
    }
    spec
}
