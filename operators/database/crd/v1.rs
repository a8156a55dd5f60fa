//! `v1`: what the operator works with, and what is stored.

#![expect(clippy::doc_markdown, reason = "the comments are the descriptions in the CRD")]
#![expect(
    unreachable_pub,
    reason = "the rules of CEL are on copies of these types, which a macro makes"
)]

use std::collections::BTreeSet;

use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use super::parts::{
    DatabaseStatus, DeletionPolicy, ReadReplicas, Resources, RestoreFrom, SCHEDULE, VERSIONS, one,
    postgres, seven,
};

/// The desired database.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
#[kube(
    group = "example.operetta.dev",
    version = "v1",
    kind = "Database",
    doc = "A PostgreSQL database with its volumes, Services, replicas and backups.",
    namespaced,
    derive = "PartialEq",
    shortname = "db",
    category = "operetta",
    status = "DatabaseStatus",
    scale(
        spec_replicas_path = ".spec.replicas",
        status_replicas_path = ".status.replicas",
        label_selector_path = ".status.selector"
    ),
    validation = Rule::new("self.metadata.name.matches('^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$')")
        .message("the name must be a DNS label of at most 40 characters that begins with a letter, as Services are named after it"),
    printcolumn(name = "Version", type_ = "string", json_path = ".status.version"),
    printcolumn(name = "Replicas", type_ = "integer", json_path = ".status.readyReplicas"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(name = "Last Backup", type_ = "date", json_path = ".status.lastBackup.time"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Endpoint", type_ = "string", json_path = ".status.endpoint", priority = 1),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].message"#,
        priority = 1
    )
)]
#[x_kube(validation = Rule::new("self.replicas != 2")
    .message("replicas must be 1, or at least 3: of two, neither knows whether the other one is away"))]
#[x_kube(validation = Rule::new(BACKUPS_GROW)
    .message("the volume of the backups cannot shrink: create a Database with a smaller one with restoreFrom"))]
#[x_kube(validation = Rule::new("!has(self.restoreFrom) || has(oldSelf.restoreFrom)")
    .message("restoreFrom can be set only when a Database is created"))]
pub struct DatabaseSpec {
    /// The version of PostgreSQL.
    pub version: Version,
    /// The Pods with a volume of their own: 1, or at least 3. The first is the primary, the others are copies of it that are
    /// read from. A copy is not promoted when the primary fails.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 9))]
    pub replicas: i32,
    /// The volume of each replica.
    pub storage: Storage,
    /// Backups at regular times; none without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<Backup>,
    /// The backup with which the database begins. It is restored once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore_from: Option<RestoreFrom>,
    /// Further copies without a volume to keep, as many as the load needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_replicas: Option<ReadReplicas>,
    /// The resources of each Pod of the database.
    #[serde(default)]
    pub resources: Resources,
    /// What happens to the data when the Database is deleted.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
    /// The image without its tag, which is the version. It must behave as the official one does.
    #[serde(default = "postgres")]
    #[schemars(length(min = 1, max = 200), pattern("^[a-z0-9][-a-z0-9._/:]*$"))]
    pub image: String,
}

/// A version of PostgreSQL.
#[derive(KubeSchema, Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[x_kube(validation = Rule::new("self.major == oldSelf.major")
    .message("the major version cannot be changed in place: create a Database of the new version with restoreFrom"))]
#[x_kube(validation = Rule::new(is_known()).message(known().as_str()))]
pub struct Version {
    /// The major version, such as 17. It cannot be changed.
    #[schemars(extend("enum" = majors()))]
    pub major: i32,
    /// The minor version, such as 7. When it is changed, the Pods are replaced one after the other.
    #[schemars(range(min = 0, max = 99))]
    pub minor: i32,
}

/// A volume.
#[derive(KubeSchema, Serialize, Deserialize, Debug, Clone, PartialEq)]
#[x_kube(validation = Rule::new("isQuantity(self.size) && quantity(self.size).compareTo(quantity('1Gi')) >= 0")
    .message("size must be a quantity of at least 1Gi, such as 10Gi"))]
#[x_kube(validation = Rule::new("!isQuantity(self.size) || !isQuantity(oldSelf.size) || quantity(self.size).compareTo(quantity(oldSelf.size)) >= 0")
    .message("a volume cannot shrink: create a smaller Database with restoreFrom"))]
#[x_kube(validation = Rule::new("has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)")
    .message("storageClassName cannot be changed: create a Database of the other class with restoreFrom"))]
#[serde(rename_all = "camelCase")]
pub struct Storage {
    /// The size, which can grow where the storage class allows it.
    #[schemars(length(max = 32))]
    pub size: String,
    /// The StorageClass; that of the namespace or of the cluster without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub storage_class_name: Option<String>,
}

/// Backups at regular times.
#[derive(KubeSchema, Serialize, Deserialize, Debug, Clone, PartialEq)]
#[x_kube(validation = Rule::new("!has(self.size) || isQuantity(self.size) && quantity(self.size).compareTo(quantity('1Gi')) >= 0")
    .message("size must be a quantity of at least 1Gi, such as 10Gi"))]
pub struct Backup {
    /// When, as a CronJob takes it: `30 3 * * *` is every night at half past three, in UTC.
    #[schemars(length(max = 64), pattern(SCHEDULE))]
    pub schedule: String,
    /// How many backups are kept. Older ones are deleted after each new one.
    #[serde(default = "seven")]
    #[schemars(range(min = 1, max = 1000))]
    pub retention: i32,
    /// The size of the volume of the backups; that of the data without it. It can grow as that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub size: Option<String>,
}

/// The size of the volume of backups is that of the data if it is not given.
const BACKUPS_GROW: &str = "!has(self.backup) || !has(oldSelf.backup) \
    || quantity(has(self.backup.size) ? self.backup.size : self.storage.size).compareTo( \
    quantity(has(oldSelf.backup.size) ? oldSelf.backup.size : oldSelf.storage.size)) >= 0";

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

fn majors() -> BTreeSet<i32> {
    let majors = VERSIONS.iter().filter_map(|version| version.split_once('.'));
    majors.filter_map(|(major, _)| major.parse().ok()).collect()
}

/// In CEL.
fn is_known() -> String {
    format!("'%d.%d'.format([self.major, self.minor]) in {VERSIONS:?}")
}

fn known() -> String {
    let (last, others) = VERSIONS.split_last().unwrap_or((&"", &[]));
    format!("this version is not known: use {} or {last}", others.join(", "))
}
