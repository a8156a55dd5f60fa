//! The custom resource `Database`: what a user can ask for, and what the API server refuses.
//!
//! The schema and its CEL rules refuse what can be judged from the object alone, with a sentence that
//! says what to write instead. `refusal.rs` judges the rest.

#![expect(clippy::doc_markdown, reason = "the comments are the descriptions in the CRD")]
#![expect(
    unreachable_pub,
    reason = "the rules of CEL are on copies of these types, which a macro makes"
)]

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{CustomResource, KubeSchema};
use operetta::operator::Conditions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The versions of PostgreSQL that this operator has been written for, by hand: the newest two minor releases of each
/// major version at that time. Nothing compares them with what has been released. A release needs a line here.
pub const VERSIONS: [&str; 6] = ["16.10", "16.11", "17.6", "17.7", "18.0", "18.1"];

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

/// Five fields of numbers, names of three letters and `* / , - ?`; or the name of a schedule.
const SCHEDULE: &str = r"^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|([-0-9*/,?]|[A-Za-z]{3})+( ([-0-9*/,?]|[A-Za-z]{3})+){4})$";

/// A backup of a Database in the same namespace.
#[derive(KubeSchema, Serialize, Deserialize, Debug, Clone, PartialEq)]
#[x_kube(validation = Rule::new("self == oldSelf")
    .message("restoreFrom cannot be changed: create another Database"))]
pub struct RestoreFrom {
    /// The Database that made it, which need not exist any more.
    #[schemars(length(min = 1, max = 40), pattern(r"^[a-z]([-a-z0-9]*[a-z0-9])?$"))]
    pub database: String,
    /// The file, such as `20261126T033000Z.dump`; the newest one without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100), pattern(r"^[0-9A-Za-z][-0-9A-Za-z.]*$"))]
    pub backup: Option<String>,
}

/// Copies for reading, as many as the load needs.
#[derive(KubeSchema, Serialize, Deserialize, Debug, Clone, PartialEq)]
#[x_kube(validation = Rule::new("self.min <= self.max").message("min must not be greater than max"))]
pub struct ReadReplicas {
    /// The fewest.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 50))]
    pub min: i32,
    /// The most.
    #[schemars(range(min = 1, max = 50))]
    pub max: i32,
    /// The use of the requested CPU, in percent, above which there are more of them.
    #[serde(rename = "targetCPU", default = "eighty")]
    #[schemars(range(min = 1, max = 100))]
    pub target_cpu: i32,
}

/// The resources of a Pod.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
pub struct Resources {
    /// What is reserved.
    #[serde(default = "small")]
    #[schemars(extend("maxProperties" = 8))]
    pub requests: BTreeMap<String, Amount>,
    /// What is never exceeded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 8))]
    pub limits: BTreeMap<String, Amount>,
}

impl Default for Resources {
    fn default() -> Self {
        Self { requests: small(), limits: BTreeMap::new() }
    }
}

/// An amount of a resource, such as `500m` or `2Gi`.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq, Eq)]
pub struct Amount(
    #[schemars(length(max = 32), pattern(r"^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$"))]
    pub  String,
);

/// What happens to the data when the Database is deleted.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeletionPolicy {
    /// The volumes and the passwords stay.
    #[default]
    Retain,
    /// The volumes, the backups and the passwords are deleted.
    Delete,
    /// As Retain, after a last backup.
    Backup,
}

/// The observed database.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct DatabaseStatus {
    /// The Pods with a volume of their own.
    pub replicas: i32,
    /// How many of them are ready.
    pub ready_replicas: i32,
    /// Whether a Pod of the database was ever ready: then it has data.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub initialised: bool,
    /// The labels of these Pods, for the scale subresource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// Where the database is read and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Where the database is read, also from its copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_endpoint: Option<String>,
    /// The Secret with what a program needs to connect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_name: Option<String>,
    /// The newest backup that is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_backup: Option<LastBackup>,
    /// The Database whose backup was restored. It is not restored again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored_from: Option<String>,
    /// The metadata.generation that this status describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// The conditions. `BackedUp` shows whether the newest backup succeeded, `LastBackup` what the deletion of the
    /// Database waits for; the framework writes `Synced`, whether the children are up to date, and `Ready`,
    /// whether they also are ready.
    pub conditions: Conditions,
}

/// A backup that is complete.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq)]
pub struct LastBackup {
    /// The Job that made it.
    pub job: String,
    /// When it was complete.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub time: Time,
}

fn one() -> i32 {
    1
}

fn seven() -> i32 {
    7
}

fn eighty() -> i32 {
    80
}

fn postgres() -> String {
    "postgres".to_owned()
}

/// Enough to start, so that a first database needs no thought.
fn small() -> BTreeMap<String, Amount> {
    let amount = |(name, amount): (&str, &str)| (name.to_owned(), Amount(amount.to_owned()));
    [("cpu", "100m"), ("memory", "256Mi")].map(amount).into()
}
