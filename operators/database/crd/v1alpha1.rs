//! `v1alpha1`: what clients of the first version write.

#![expect(clippy::doc_markdown, reason = "the comments are the descriptions in the CRD")]
#![expect(
    unreachable_pub,
    reason = "the rules of CEL are on copies of these types, which a macro makes"
)]

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
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
    version = "v1alpha1",
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
    printcolumn(name = "Version", type_ = "string", json_path = ".spec.version"),
    printcolumn(name = "Mode", type_ = "string", json_path = ".spec.mode"),
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
#[x_kube(validation = Rule::new("self.mode != 'HighAvailability' || self.replicas >= 3")
    .message("the mode HighAvailability needs at least 3 replicas"))]
#[x_kube(validation = Rule::new("self.mode != 'Standalone' || self.replicas == 1")
    .message("the mode Standalone has exactly 1 replica: for more, use the mode HighAvailability"))]
#[x_kube(validation = Rule::new("self.version.split('.')[0] == oldSelf.version.split('.')[0]")
    .message("the major version cannot be changed in place: create a Database of the new version with restoreFrom"))]
#[x_kube(validation = Rule::new("!has(self.restoreFrom) || has(oldSelf.restoreFrom)")
    .message("restoreFrom can be set only when a Database is created"))]
pub struct DatabaseSpec {
    /// The version of PostgreSQL. The minor version can be changed, one Pod after the other.
    #[schemars(length(max = 16), extend("enum" = VERSIONS))]
    pub version: String,
    /// Whether there are copies of the database that are read from and kept up to date.
    #[serde(default)]
    pub mode: Mode,
    /// The Pods with a volume of their own: 1, or at least 3 with the mode HighAvailability.
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

/// Whether there are copies.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// One Pod.
    #[default]
    Standalone,
    /// A primary and its copies, which are read from. A copy is not promoted when the primary fails.
    HighAvailability,
}

/// A volume.
#[derive(KubeSchema, Serialize, Deserialize, Debug, Clone, PartialEq)]
#[x_kube(validation = Rule::new("isQuantity(self.size) && quantity(self.size).compareTo(quantity('1Gi')) >= 0")
    .message("size must be a quantity of at least 1Gi, such as 10Gi"))]
#[x_kube(validation = Rule::new("!isQuantity(self.size) || !isQuantity(oldSelf.size) || quantity(self.size).compareTo(quantity(oldSelf.size)) >= 0")
    .message("a volume cannot shrink: create a smaller Database with restoreFrom"))]
#[x_kube(validation = Rule::new("has(self.class) == has(oldSelf.class) && (!has(self.class) || self.class == oldSelf.class)")
    .message("the class of a volume cannot be changed: create a Database of the other class with restoreFrom"))]
pub struct Storage {
    /// The size, which can grow where the storage class allows it.
    #[schemars(length(max = 32))]
    pub size: String,
    /// The storage class; that of the cluster without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub class: Option<String>,
}

/// Backups at regular times.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
pub struct Backup {
    /// When, as a CronJob takes it: `30 3 * * *` is every night at half past three, in UTC.
    #[schemars(length(max = 64), pattern(SCHEDULE))]
    pub schedule: String,
    /// How many backups are kept. Older ones are deleted after each new one.
    #[serde(default = "seven")]
    #[schemars(range(min = 1, max = 1000))]
    pub retention: i32,
}
