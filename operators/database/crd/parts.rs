//! What both versions of a `Database` have.

#![expect(clippy::doc_markdown, reason = "the comments are the descriptions in the CRD")]
#![expect(
    unreachable_pub,
    reason = "the rules of CEL are on copies of these types, which a macro makes"
)]

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::KubeSchema;
use operetta::operator::Conditions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The versions of PostgreSQL that this operator has been written for, by hand: the newest two minor releases of each
/// major version at that time. Nothing compares them with what has been released. A release needs a line here.
pub const VERSIONS: [&str; 6] = ["16.10", "16.11", "17.6", "17.7", "18.0", "18.1"];

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
    /// The version of PostgreSQL that they are to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
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

/// Five fields of numbers, names of three letters and `* / , - ?`; or the name of a schedule.
pub(super) const SCHEDULE: &str = r"^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|([-0-9*/,?]|[A-Za-z]{3})+( ([-0-9*/,?]|[A-Za-z]{3})+){4})$";

pub(super) fn one() -> i32 {
    1
}

pub(super) fn seven() -> i32 {
    7
}

fn eighty() -> i32 {
    80
}

pub(super) fn postgres() -> String {
    "postgres".to_owned()
}

/// Enough to start, so that a first database needs no thought.
fn small() -> BTreeMap<String, Amount> {
    let amount = |(name, amount): (&str, &str)| (name.to_owned(), Amount(amount.to_owned()));
    [("cpu", "100m"), ("memory", "256Mi")].map(amount).into()
}
