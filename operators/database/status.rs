//! The status of a `Database`, from its children and the Jobs that made backups.

use k8s_openapi::{
    api::{apps::v1::StatefulSet, batch::v1::Job},
    jiff::Timestamp,
};
use operetta::operator::{Condition, Conditions};

use super::{
    children::names::{self, PORT},
    crd::{Database, DatabaseStatus, LastBackup},
    no_backup::{NoLastBackup, WAY_OUT},
};

/// What the status is made of.
#[derive(Debug)]
pub(super) struct Observed<'a> {
    /// The set of Pods with the data.
    pub(super) set: Option<&'a StatefulSet>,
    /// Whether the primary Service exists.
    pub(super) is_served: bool,
    /// Whether a backup was restored, now or before.
    pub(super) is_restored: bool,
    /// The Jobs that make backups of this database.
    pub(super) backups: Vec<&'a Job>,
}

/// The status for what is observed.
pub(super) fn status(database: &Database, observed: &Observed<'_>) -> DatabaseStatus {
    let before = database.status.clone().unwrap_or_default();
    let (replicas, ready_replicas) = counts(observed.set);
    // A Job may be gone; the backup that it has made is not.
    let last_backup = newest_backup(&observed.backups).into_iter().chain(before.last_backup);
    let last_backup = last_backup.max_by_key(|it| it.time.0);
    let restored = database.spec.restore_from.as_ref().filter(|_| observed.is_restored);
    let address = |service| format!("{service}.{}.svc:{PORT}", names::namespace(database));
    let served = Some(database).filter(|_| observed.is_served);
    DatabaseStatus {
        replicas,
        ready_replicas,
        version: Some(database.spec.version.to_string()),
        // Never unset: what a last backup is made of may be deleted before it.
        initialised: before.initialised || ready_replicas > 0,
        selector: Some(names::selector_text(database)),
        endpoint: served.map(|_| address(names::primary(database))),
        read_endpoint: served
            .filter(|it| names::has_readers(it))
            .map(|it| address(names::read(it))),
        secret_name: Some(names::credentials(database)),
        conditions: backed_up(database, &observed.backups, last_backup.as_ref()),
        last_backup,
        restored_from: restored.map(|it| it.database.clone()).or(before.restored_from),
        observed_generation: None,
    }
}

/// How far the last backup is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastBackupStep {
    /// Nothing can be asked for the data yet.
    WaitsForPod,
    Begins,
    Runs,
}

/// The status of a database that waits for its last backup.
pub(super) fn last_backup(database: &Database, step: LastBackupStep) -> DatabaseStatus {
    let (set, job) = (names::primary(database), names::last_backup(database));
    let what = match step {
        LastBackupStep::WaitsForPod => format!("it waits for a ready Pod of the StatefulSet {set}"),
        LastBackupStep::Begins => format!("the Job {job} begins it"),
        LastBackupStep::Runs => format!("the Job {job} makes it"),
    };
    let message =
        format!("the Database stays until the last backup is complete: {what}; {WAY_OUT}");
    ending(database, "Waiting", message)
}

/// The status of a database without a last backup.
pub(super) fn no_last_backup(database: &Database, why: &NoLastBackup) -> DatabaseStatus {
    ending(database, why.reason(), why.to_string())
}

/// What the database was stays in its status.
fn ending(database: &Database, reason: &str, message: String) -> DatabaseStatus {
    let before = database.status.clone().unwrap_or_default();
    let condition = Condition::new("LastBackup", false, reason, message);
    DatabaseStatus { conditions: Conditions::from_iter([condition]), ..before }
}

fn counts(set: Option<&StatefulSet>) -> (i32, i32) {
    let status = set.and_then(|set| set.status.as_ref());
    status.map_or((0, 0), |it| (it.replicas, it.ready_replicas.unwrap_or(0)))
}

fn newest_backup(jobs: &[&Job]) -> Option<LastBackup> {
    let complete = |job: &&Job| {
        let time = job.status.as_ref()?.completion_time.clone()?;
        Some(LastBackup { job: job.metadata.name.clone()?, time })
    };
    jobs.iter().filter_map(complete).max_by_key(|it| it.time.0)
}

/// Whether the newest backup succeeded; nothing while no backups are desired.
fn backed_up(database: &Database, jobs: &[&Job], last: Option<&LastBackup>) -> Conditions {
    if database.spec.backup.is_none() {
        return Conditions::new();
    }
    let failed = jobs.iter().filter_map(|job| Some((failed_at(job)?, *job)));
    let newest_failure = failed.max_by_key(|(time, _)| *time);
    let condition = |holds: bool, reason: &str, message: String| {
        Conditions::from_iter([Condition::new("BackedUp", holds, reason, message)])
    };
    match (newest_failure, last) {
        (Some((at, job)), last) if last.is_none_or(|last| last.time.0 < at) => {
            let name = job.metadata.name.as_deref().unwrap_or_default();
            condition(false, "BackupFailed", format!("the Job {name} failed: its log says why"))
        }
        (_, Some(last)) => {
            condition(true, "BackupComplete", format!("the Job {} made a backup", last.job))
        }
        (_, None) => condition(false, "NoBackup", "no backup was made yet".to_owned()),
    }
}

fn failed_at(job: &Job) -> Option<Timestamp> {
    let mut conditions = job.status.as_ref()?.conditions.iter().flatten();
    let failed = conditions.find(|it| it.type_ == "Failed" && it.status == "True")?;
    failed.last_transition_time.as_ref().map(|time| time.0)
}
