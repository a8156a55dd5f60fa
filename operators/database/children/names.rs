//! The names and labels of the children of a `Database`.

use std::collections::BTreeMap;

use kube::ResourceExt;
use serde_json::{Value, json};

use crate::database::crd::Database;

/// The port of `PostgreSQL`.
pub(in crate::database) const PORT: i32 = 5432;

/// The label of the Jobs that make backups of the database with this name.
pub(in crate::database) const BACKUP_OF: &str = "database.operetta.dev/backup-of";
/// The label of the Pods that answer reads.
pub(super) const READS: &str = "database.operetta.dev/reads";
/// The finalizer of the claims without which no last backup can be made. It is there while
/// `deletionPolicy` asks for one: the deletion of their namespace would delete them first.
pub(in crate::database) const HELD: &str = "database.operetta.dev/last-backup";
const INSTANCE: &str = "app.kubernetes.io/instance";
const COMPONENT: &str = "app.kubernetes.io/component";

/// A part of the database, which is a label of its Pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The Pods with the data.
    Data,
    /// The copies for reading.
    ReadReplica,
    /// The Pods of Jobs.
    Job,
}

impl Part {
    fn as_str(self) -> &'static str {
        match self {
            Self::Data => "database",
            Self::ReadReplica => "read-replica",
            Self::Job => "job",
        }
    }
}

pub(in crate::database) fn namespace(database: &Database) -> String {
    database.namespace().unwrap_or_default()
}

/// The set of Pods with the data, and the Service of the first of them, the primary.
pub(in crate::database) fn primary(database: &Database) -> String {
    database.name_any()
}

/// The Service for reading.
pub(in crate::database) fn read(database: &Database) -> String {
    format!("{}-read", database.name_any())
}

/// The set of copies for reading.
pub(super) fn read_replicas(database: &Database) -> String {
    format!("{}-copy", database.name_any())
}

/// The Service without an address, by which Pods find each other.
pub(super) fn pods(database: &Database) -> String {
    format!("{}-pods", database.name_any())
}

/// The host of the primary Pod, which exists before the Service does.
pub(super) fn primary_pod(database: &Database) -> String {
    format!("{}-0.{}", database.name_any(), pods(database))
}

/// The Secret for programs that use the database.
pub(in crate::database) fn credentials(database: &Database) -> String {
    format!("{}-credentials", database.name_any())
}

/// The Secret for the database itself.
pub(super) fn superuser(database: &Database) -> String {
    format!("{}-superuser", database.name_any())
}

/// The Secrets without which no Pod starts.
pub(in crate::database) fn secrets(database: &Database) -> [String; 2] {
    [credentials(database), superuser(database)]
}

pub(super) fn config(database: &Database) -> String {
    format!("{}-config", database.name_any())
}

/// The claim with the backups of a database, and its `CronJob`.
pub(in crate::database) fn backups(database: &str) -> String {
    format!("{database}-backups")
}

pub(in crate::database) fn restore(database: &Database) -> String {
    format!("{}-restore", database.name_any())
}

pub(in crate::database) fn last_backup(database: &Database) -> String {
    format!("{}-last-backup", database.name_any())
}

/// The claim of a replica, as the controller of the set names it.
pub(in crate::database) fn claim(database: &Database, ordinal: i32) -> String {
    format!("data-{}-{ordinal}", primary(database))
}

/// Whether there are Pods that only answer reads.
pub(in crate::database) fn has_readers(database: &Database) -> bool {
    database.spec.replicas > 1 || database.spec.read_replicas.is_some()
}

/// The metadata of a child. Its namespace is that of the parent.
pub(super) fn metadata(database: &Database, name: &str) -> Value {
    json!({"name": name, "labels": labels(database)})
}

/// The labels of all children.
pub(super) fn labels(database: &Database) -> BTreeMap<&'static str, String> {
    [("app.kubernetes.io/name", "postgresql".to_owned()), (INSTANCE, database.name_any())].into()
}

/// The labels of the Pods of a part, by which they are selected.
pub(super) fn selector(database: &Database, part: Part) -> BTreeMap<&'static str, String> {
    let mut labels = labels(database);
    labels.insert(COMPONENT, part.as_str().to_owned());
    labels
}

/// The selector of the Pods with the data, as text.
pub(in crate::database) fn selector_text(database: &Database) -> String {
    let labels = selector(database, Part::Data);
    let pairs: Vec<_> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join(",")
}

/// The selector of the Jobs that make backups.
pub(in crate::database) fn backup_jobs(database: &Database) -> String {
    format!("{BACKUP_OF}={}", database.name_any())
}
